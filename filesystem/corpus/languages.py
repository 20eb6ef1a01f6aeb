"""Which language a text is in, from its script and its commonest words, and the stemmer for it.

A guess that costs microseconds, made once per file. It only has to be the same for the same text and
right for prose: a wrong guess means a cruder stem, never a lost word, because a query is stemmed once
for every language that the corpus holds.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from threading import Lock

# The commonest words of each language written in Latin letters, accents removed, those that tell it
# from its neighbours first in mind. Vietnamese is here although it has no stemmer: it must not get
# an English one.
_COMMON_WORDS = {
    "danish": "og det er ikke til den af som der jeg har blev efter ogsa være hvordan",
    "dutch": "de het een van en is niet dat op te zijn voor met ook wordt deze door",
    "english": "the of and to in is that for it with as was on are be this by from which",
    "finnish": "ja on ei se etta oli mutta ovat kun han joka myos tai voi sen",
    "french": "le la les des et est une que dans pour qui sur pas avec sont du au",
    "german": "der die das und ist nicht ein eine mit von zu den auf fur im wird dem sich werden",
    "hungarian": "az egy es nem hogy meg volt csak ez vagy mint szerint lehet",
    "indonesian": "yang dan di dengan untuk ini itu dari pada tidak adalah dalam oleh",
    "italian": "il di che della per una sono con non del gli nel anche piu alla",
    "norwegian": "og det er ikke til som av pa jeg har ble etter ogsa fra vaere",
    "polish": "nie jest sie na do ze oraz dla przez byl ktory jak lub ich",
    "portuguese": "de que nao uma para com os dos por mais como foi ao das pela em",
    "romanian": "si de la nu este cu pentru din pe care sunt mai dar prin",
    "spanish": "el los de que y en una por con las del para es se al como mas",
    "swedish": "och det ar inte att som en pa for med den har av till eller",
    "turkish": "ve bir bu icin ile da de olarak cok daha gibi olan degil",
    "vietnamese": "la cua va cac co nguoi duoc trong cho khong mot nhung nay voi khi",
}
# Words that ask rather than tell; in a query they only add noise.
_QUESTION_WORDS = (
    "a an are at as by be can do does did for from had has have how i if in into is it its of on or so "
    "such that the their them then there these they this to was we were what when where which who "
    "whom whose why will with you your about between not than our and but me my please tell give"
)
_WORDS = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
_ASKING = frozenset(_QUESTION_WORDS.split())
_SAMPLE = 8_000  # characters read for the guess; more changes nothing on prose
_LEAST_HITS = 2  # common words of another language that a text must hold
_LEAST_SHARE = 0.08  # and their share; prose has 15 to 30 %, English with foreign names under 5 %
_LEAD = 1.5  # and they must outnumber English ones this many times
_STEMMED_SCRIPTS = (
    ("russian", "Ѐ", "ӿ"),
    ("greek", "Ͱ", "Ͽ"),
    ("arabic", "\u0600", "\u06ff"),
    ("hindi", "\u0900", "\u097f"),
    ("tamil", "\u0b80", "\u0bff"),
    ("armenian", "\u0530", "\u058f"),
)
_UNSTEMMED = frozenset({"vietnamese"})


def guess_language(words: Mapping[str, int]) -> str:
    """Name the likeliest language among those written in Latin letters.

    ``words``: how often each word occurs, in lower case without accents. Answers ``"english"`` when
    nothing is recognised: names, code and tables are mostly that.
    """
    hits = {
        language: sum(words.get(word, 0) for word in common) for language, common in _WORDS.items()
    }
    best = max(sorted(hits), key=lambda language: hits[language])
    enough = hits[best] >= max(_LEAST_HITS, sum(words.values()) * _LEAST_SHARE)
    return best if enough and hits[best] > hits["english"] * _LEAD else "english"


def asking_words(languages: Iterable[str]) -> frozenset[str]:
    """Collect the folded words that a query can do without, for the languages of a corpus."""
    return _ASKING.union(*(_WORDS[language] for language in languages if language in _WORDS))


def sample_of(text: str) -> str:
    """Cut the part of a text that the guess reads, in characters."""
    return text[:_SAMPLE]


def stemmer_for(word: str, latin_language: str) -> Callable[[str], str]:
    """Pick the stemmer of a folded word: by its script, for Latin letters by the given language."""
    first = word[0]
    if first < "\u0250":
        return _plain if latin_language in _UNSTEMMED else _snowball(latin_language)
    for language, low, high in _STEMMED_SCRIPTS:
        if low <= first <= high:
            return _snowball(language)
    return _plain


def _plain(word: str) -> str:
    return word


@cache
def _snowball(language: str) -> Callable[[str], str]:
    import snowballstemmer

    stemmer, lock = snowballstemmer.stemmer(language), Lock()

    def stem(word: str) -> str:
        with lock:  # a stemmer keeps the word it works on in itself, and searches run in threads
            return str(stemmer.stemWord(word))

    return stem


def stemmer_stamp() -> str:
    """Name the version of the stemmers, part of an index's stamp: other stems need a new index."""
    from importlib.metadata import version

    return version("snowballstemmer")
