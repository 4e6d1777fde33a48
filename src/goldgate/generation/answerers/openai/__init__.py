"""Asking an endpoint that speaks the chat completions of OpenAI."""
