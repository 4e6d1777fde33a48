import click

power_command = click.Command("power")
