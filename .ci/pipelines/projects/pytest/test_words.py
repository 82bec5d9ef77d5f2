import pytest


def words(text):
    return text.split()


@pytest.mark.parametrize("text, count", [("", 0), ("one", 1), (" one  two ", 2)])
def test_words_are_counted(text, count):
    assert len(words(text)) == count
