import subprocess
import sys

import bench.__main__
import evidence.__main__


def test_a_proof_that_is_not_there_is_told(capsys):
    assert evidence.__main__.main(["nothing-of-the-kind"]) == 2
    assert capsys.readouterr().err == "There is no proof named nothing-of-the-kind.\n"


def test_without_a_name_it_says_how_proofs_are_run(capsys):
    assert evidence.__main__.main([]) == 2
    assert capsys.readouterr().err.startswith("usage: script/evidence NAME")


def test_a_measurement_that_is_not_there_is_told(capsys):
    assert bench.__main__.main(["nothing_of_the_kind", "--plans"]) == 2
    assert capsys.readouterr().err.startswith("There is no measurement named nothing_of_the_kind; there are:")


def test_measurements_are_known_before_there_is_a_database_to_import_them_for():
    # In a process of its own: here Django is set up, as it is not there yet.
    seen = "import bench.__main__ as b; print([n for n in b.names() if b.is_alone(n)], 'timing' in b.names())"

    said = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout

    assert said == "['storage'] False\n"
