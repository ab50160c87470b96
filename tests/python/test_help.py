"""Every command says what it does with an example that works; every end is one line and a code."""

import shlex

import click
import pytest
from ehrbench import cli, errors, paths


def commands(command=cli.cli, name="ehrbench"):
    """(name, command) of the group and of all that is below it."""
    yield name, command
    for below, one in getattr(command, "commands", {}).items():
        yield from commands(one, f"{name} {below}")


def examples(command):
    """Lines of the example paragraph of a command's help, as a terminal shows it."""
    with click.Context(command, info_name="x", terminal_width=80) as context:
        lines = command.get_help(context).splitlines()
    at = [number for number, line in enumerate(lines) if line.strip() == "Example:"]
    if len(at) != 1:
        return []
    shown = []
    for line in lines[at[0] + 1 :]:
        if not line.strip():
            break
        shown.append(line.strip())
    return shown


def parse(line):
    """Parse a command line as click would, without running it; returns the command's name."""
    first, *words = shlex.split(line)
    assert first == "ehrbench", line
    command, context, name = cli.cli, click.Context(cli.cli, info_name="ehrbench"), "ehrbench"
    while isinstance(command, click.Group):
        below, command, words = command.resolve_command(context, words)
        name = f"{name} {below}"
        context = click.Context(command, info_name=below, parent=context)
    try:
        command.make_context(name, list(words))
    except click.exceptions.Exit:
        assert "--help" in words
    return name


NAMES = dict(commands())


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_that_parses(name, capsys):
    lines = examples(NAMES[name])
    assert lines, f"the help of {name} has no example"
    for line in lines:
        parsed = parse(line)
        assert parsed.startswith(name), f"the help of {name} shows {line}"
    options = [one for one in NAMES[name].params if isinstance(one, click.Option)]
    bare = [one.opts[0] for one in options if not one.help]
    assert bare == [], f"options of {name} without help"


def test_the_parser_of_examples_sees_mistakes():
    for line, said in (
        ("ehrbench synth --patient 3", "No such option"),
        ("ehrbench synt", "No such command"),
        ("ehrbench run --target real", "is not one of"),
        ("ehrbench generate --model m", "Missing option"),
        ("ehrbench fetch", "Missing argument"),
    ):
        with pytest.raises(click.UsageError) as error:
            parse(line)
        assert said in error.value.format_message()
    assert examples(click.Command("x", help="Do.\n\n\b\nExample:\n  x y\n\nMore.")) == ["x y"]
    assert examples(click.Command("x", help="Do.")) == []


def test_the_help_says_the_order_of_work_and_the_codes():
    said = " ".join(cli.cli.get_help(click.Context(cli.cli)).split())
    assert "In this order: 1. data" in said
    assert "Exit codes: 0 done 1 something to mend" in said and "2 wrong usage" in said
    # What it names is there.
    for name in ("synth", "fetch", "convert", "doctor", "run", "generate", "embed", "score-texts"):
        assert name in cli.cli.commands


def ends(arguments, capsys):
    """Exit code and standard error of a command line."""
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    return stop.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--nothing"], "No such option '--nothing' (see ehrbench run --help)"),
        (["nothing"], "No such command 'nothing' (see ehrbench --help)"),
        (["fetch", "nothing"], "'nothing' is not one of 'mimic-iv-demo', "),
        (["fetch"], "Missing argument 'DATASET'. Choose from: mimic-iv-demo, "),
        (["convert", "drugbank", "x"], "Missing option '--out' (see ehrbench convert drugbank"),
        (["synth", "--patients", "0"], "0 is not in the range x>=1 (see ehrbench synth --help)"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(arguments, said, capsys):
    code, err = ends(arguments, capsys)
    assert code == 2 and err.startswith("error: ") and said in err
    assert len(err.splitlines()) == 1


def test_what_is_to_mend_is_one_line_and_exit_1(capsys):
    code, err = ends(["synth", "--patients", "3000000"], capsys)
    assert (code, err) == (1, "error: patients must be a whole number from 1 to 2000000\n")


def test_a_mistake_of_the_program_leaves_a_trace_without_data(tmp_path, monkeypatch, capsys):
    def deeper():
        raise ValueError("subject_id 123, Jane Doe")

    def broken(*_):
        try:
            deeper()
        except ValueError as error:
            raise KeyError("Jane Doe again") from error

    (tmp_path / "dbt_project.yml").write_text("name: x\n")
    monkeypatch.setenv("EHRBENCH_PROJECT_DIR", str(tmp_path))
    monkeypatch.setattr("ehrbench.pipeline.synthesise", broken)
    code, err = ends(["synth"], capsys)
    assert code == 1 and len(err.splitlines()) == 1
    assert err.startswith("error: KeyError where none was expected, a mistake of this program")
    assert "build/error.log" in err and "Jane" not in err
    trace = (tmp_path / "build/error.log").read_text(encoding="utf-8")
    assert "builtins.KeyError" in trace and "builtins.ValueError" in trace
    assert "in deeper" in trace and "in broken" in trace and "synth" in trace.splitlines()[0]
    # Lines of the source are there, what was in the exceptions is not.
    assert "123, Jane Doe" not in trace.replace('raise ValueError("subject_id 123, Jane Doe")', "")
    monkeypatch.setattr(
        paths, "project_root", lambda: (_ for _ in ()).throw(errors.EhrbenchError("none"))
    )
    code, err = ends(["synth"], capsys)
    assert code == 1 and "run it inside the project" in err and len(err.splitlines()) == 1


def test_no_command_shows_the_help(capsys):
    code, err = ends([], capsys)
    assert code == 2 and "Exit codes:" in err
