"""Searching from several threads at once gives what one thread gives."""

from concurrent.futures import ThreadPoolExecutor

from filesystem.corpus.normalise import terms

WORDS = [
    f"answering{chr(97 + n % 26)} countersigned{chr(97 + n % 7)} relational{n}" for n in range(200)
]


def test_terms_are_the_same_in_every_thread():
    alone = [terms(text) for text in WORDS]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert list(pool.map(terms, WORDS)) == alone
