"""Which language a question is written in, when that is clearly none the index can search.

The guard calls `foreign_language` and refuses what it names, so every doubt ends in None: a question wrongly let through costs one poor
answer, a question wrongly refused costs a user. Three kinds of evidence, the cheap and sure ones first:

- the letters of another script;
- function words (Grefenstette 1995), the closed class that a sentence can hardly avoid and a list of symbols never has, and next to them
  the commonest words of questions about software;
- byte n-grams (Lui and Baldwin 2012), which alone take "main loop die event" for Dutch. They are asked only about several words
  among which none is an allowed language's, and have to be surer the less the other two have found.

Pure, and linear in the length of the text: what the patterns below give back after a failure, they do not try again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import cache
from typing import Any, NamedTuple
from unicodedata import name, normalize

# By language: words, then after the slash words that English prose, code, names or abbreviations have too. "_" joins two words in a row.
_LISTS = {
    "en": """the a an of to in on at by for from with without into as is are was were be been am do does did doing have has had how what
        which who whom whose when where why can could should would will may might must I i you he she it we they me my your his her its our
        their this that these those there here and or but if then than not no so because while between about after before each every all any
        some only also just get gets got using want need make give tell show please explain mean means way i'm i've don't isn't can't
        doesn't didn't won't what's it's that's there's cant dont""",
    "de": """ist sind ein eine einen einem einer eines und oder aber nicht kein keine keinen ich wir mein meine meinen meinem meiner mich
        für vom zum zur auf aus beim sich über zwischen ohne durch gegen warum wieso weshalb wann welche welcher welches welchen wofür womit
        woran wird werden wurde kann können muss müssen soll sollte möchte haben habe gibt geht auch noch nur schon immer wenn dass bitte
        danke dieser diese dieses diesen diesem dafür damit mehr sehr jetzt zwei datei dateien funktion klasse fehler fehlermeldung
        unterschied beispiel verwenden verwende benutzen benutze nutzen erstellen lesen schreiben installieren installiere ändern löschen
        funktioniert machen mache macht finde einfach wie_kann wie_geht was_ist wie_installiert modell liste bild speichern sortieren
        umwandeln importieren einlesen ausgeben anzeigen starten suchen mehrere anleitung / wie was war die der das den dem des du er ihr
        mir mit von zu bei im am an nach unter um wo wer hat es man als ob laden sie hier so alle will in""",
    "fr": """pourquoi où quel quelle quels quelles quoi est-ce qu'est-ce c'est c'était sont une ne_pas je nous vous ses votre cet cette dans
        avec peut peux puis-je peut-on dois-je existe-t-il qu' j' faut avoir suis être utiliser utilise utilisez comment_installer créer
        lire écrire ajouter supprimer afficher obtenir trouver fichier fichiers erreur différence plusieurs toujours aussi très merci
        bonjour voudrais besoin lorsque alors ça cela même toute toutes y_a est_le est_la comme donc fait modèle liste mémoire données
        dictionnaire enregistrer trier convertir exécuter lancer lors / comment quand qui que est le la les un des du de au et ou mais ne
        pas tu il ils mon ma mes son sa leur ce ces sans pour par sur sous entre vers si d' l' n' s' à installer charger fonction classe
        exemple marche sert tout tous en se on a me faire deux aux notre elle""",
    "es": """cómo como qué cuál cuáles cuándo cuando dónde donde quién unos unas está están puedo puede pueden se_puede hacer hago hace
        tengo tiene necesito quiero quisiera muy más también desde hasta usar instalar instalo crear escribir cargar guardar archivo
        archivos función funciones diferencia ejemplo sirve funciona gracias por_favor lo_que entiendo porque línea líneas mismo así después
        siempre ¿ modelo lista memoria datos diccionario imagen código carpeta ordenar convertir ejecutar eliminar varios para_que varias /
        que cual por para con sin en el la los las un una del al de y o pero se es son ser mi mis tu su sus este esta esto ese esa eso mas
        entre sobre cada todos todo uso usa leer clase hola linea otra otro lo a no me hay todas""",
    "it": """cosa cos'è perché perchè perche quale quali qual è c'è gli della dello degli delle dalla nel nella nei sul sulla alla questo
        questa questi queste quello più anche sono hanno faccio posso puoi può devo voglio vorrei miei usare utilizzare installare creare
        leggere scrivere caricare salvare funzione funzioni errore differenza esempio funziona grazie capisco succede sempre senza ogni
        tutti tutte quindi esiste trovo così dell' nell' all' sull' dall' un' come_si si_usa si_fa che_cosa a_cosa modello lista memoria
        dati dizionario immagine codice cartella ordinare convertire eseguire eliminare durante / come che chi quando dove il lo la le un
        uno una di del dei da dal in con su per tra fra e ed o ma non si ho ha essere fare mi mio mia uso ciao classe file l' d' dopo prima
        tutto se a me no i""",
    "pt": """como uma não é são está estão você voce meu minha meus minhas isso isto esse essa mais muito também até onde qual quais quem
        porque por_que o_que faço fazer posso pode podem preciso quero gostaria tenho há existe usar instalar criar escrever carregar salvar
        arquivo arquivos ficheiro função funções diferença exemplo para_que funciona obrigado dá entendo recebo sempre acontece pelo pela já
        só ainda depois então modelo lista memória dados dicionário imagem código ordenar executar eliminar vários ao várias / que quando o
        os de do da dos das em na no nos nas por para com sem e ou mas nao ser eu seu sua este esta tem ler classe erro cada todos todas
        entre sobre uso a as se fica serve me um usa""",
    "nl": """hoe wat waarom waar wanneer welke zijn een niet geen ik jij wij mijn deze voor naar bij tussen zonder kunnen moet wordt worden
        heb heeft maar ook nog gebruik gebruiken bestand functie fout verschil werkt maken / wie is de het en of dit dat die van met op uit
        kan als dan er je ze nu te om in wil""",
    "sv": """hur vad varför när vilken vilka är och eller inte jag mitt mina denna här för från mellan utan måste finns använda använder
        använd funktion skillnad skillnaden fungerar göra på / att till det var ett en du vi min den med av kan ska har som om fil fel i
        in""",
    "da": """hvordan hvad hvorfor hvornår hvor hvilken eller ikke jeg denne på mellem uden skal findes bruger bruge fejl forskel forskellen
        virker gøre / er et en og du vi min mine det den dette med af til fra kan har som om fil for at mit i""",
    "no": """hvordan hva hvorfor når hvor hvilken eller ikke jeg mitt denne på mellom uten skal finnes bruker bruke funksjon feil forskjell
        forskjellen virker gjøre å / er et en og du vi min mine det den dette med av til fra kan har som om fil for at i""",
    "pl": """jest są czym dlaczego gdzie kiedy który która które czy nie się oraz lub dla przez między mój moja moje mogę można używać użyć
        zainstalować plik pliku funkcja funkcji błąd różnica działa zrobić / jak co w z na do od po ale bez ten ta tego tym mam jako""",
    "cs": """proč kde kdy který která které jsou není nebo při mezi tento toto můj mohu můžu lze používá použít použiji nainstalovat soubor
        souboru funkce chyba chybu rozdíl funguje nefunguje udělat / jak co je se si ale pro na do od po bez mi tato moje mám""",
    "tr": """nasıl neden nerede hangi için değil daha çok kadar gibi sonra önce benim bana olarak nedir kullanılır kullanabilirim kullanmak
        yapılır yapabilirim arasındaki dosya dosyayı hata çalışmıyor demek veya şu mı mü / ne bir bu ile mi mu var yok ben fark ve""",
    "ro": """unde când sunt și sau pentru între fără acest această să poate folosesc fișier fișierul fișiere funcție eroare diferența de_ce
        / cum ce care un o dar nu pe cu la din pot am mai fi este""",
    "fi": """miten mikä mitä miksi missä milloin ovat mutta että minun tämä tämän voin voiko käytän käyttää käytetään asentaa asennan
        tiedosto tiedoston funktio virhe toimii kanssa ilman / on ja tai jos kun ei se ero toimi""",
    "hu": """hogyan miért hol mikor melyik vannak nem és vagy hogy ezt azt nekem lehet tudom tudok kell használni használom telepíteni fájl
        fájlt függvény hiba különbség működik között nélkül / mi mit van de ha egy ez az a""",
    "id": """bagaimana mengapa kenapa dimana kapan adalah tidak tetapi dari untuk dengan saya menggunakan memakai memasang menginstal berkas
        fungsi kesalahan perbedaan antara tanpa / apa atau di ke pada ini itu cara bisa dapat yang dan""",
    "vi": """làm thế gì tại_sao vì khi ở đâu là có không và hoặc nhưng của với từ đến này tôi bạn được để cách dùng sử dụng cài đặt tệp hàm
        lỗi khác nào / cho trong sao""",
}

# By the word its letters' Unicode names begin with: the languages of a script, the commonest first, and how many letters count as a word.
_SCRIPTS = {
    "CJK": ("zh ja", 1),
    "HIRAGANA": ("ja", 2),
    "KATAKANA": ("ja", 2),
    "HANGUL": ("ko", 1),
    "CYRILLIC": ("ru uk be bg sr mk kk ky tg mn", 4),
    "GREEK": ("el", 1),
    "ARABIC": ("ar fa ur ps ckb ug", 4),
    "HEBREW": ("he yi", 4),
    "DEVANAGARI": ("hi mr ne", 3),
    "BENGALI": ("bn as", 3),
    "GURMUKHI": ("pa", 3),
    "GUJARATI": ("gu", 3),
    "TAMIL": ("ta", 3),
    "TELUGU": ("te", 3),
    "KANNADA": ("kn", 3),
    "MALAYALAM": ("ml", 3),
    "SINHALA": ("si", 3),
    "THAI": ("th", 4),
    "LAO": ("lo", 4),
    "KHMER": ("km", 4),
    "MYANMAR": ("my", 4),
    "GEORGIAN": ("ka", 4),
    "ARMENIAN": ("hy", 4),
    "ETHIOPIC": ("am ti", 2),
}
_TELLTALE = {"uk": "їєґі", "be": "ў", "sr": "ђћџ", "ur": "ٹڈڑے", "fa": "پچژگ"}
# Languages that these lists and statistics take for one another: where the first is allowed, so are the others.
_KIN = {"nb": "no da", "nn": "no da", "no": "da", "da": "no", "gl": "pt es", "ca": "es", "sk": "cs", "af": "nl", "ms": "id"}

_ENOUGH = 3  # points that name a language: a word is two, a word English has too is one
_HALVES = 2  # points that words English has too can earn together, so that they alone never name a language
_SENTENCE = 3  # words that only an allowed language has: whoever writes as many in a sentence writes that language, whatever they paste
_PLAIN, _SAMPLE = 3, 1_000  # words in small letters that statistics need, letters they are given
_SURE, _HINT, _LIKELY = 0.98, 2, 0.8  # probability they must reach, points that make a lower one do, that lower one
_NO_ANSWERS = ("en", "la")  # what terse queries and scientific names look like to statistics
_END = 2_000  # letters read at either end of a longer text: what a question asks stands before or after what it pastes
_LONGEST = 24  # letters of a listed word, and then some
_DISTINCT = 1_000  # different letters looked at, the commonest first

_QUOTED = re.compile(
    r"""(?s:(```|\"{3}|'{3}).*?(?:\1|\Z))"""
    r"""|`[^`\n]*+`|"[^"\n]*+"|“[^“”\n]*+”|„[^„“”\n]*+[“”]|«[^«»\n]*+»|「[^「」\n]*+」|『[^『』\n]*+』|《[^《》\n]*+》"""
    r"""|(?<!\w)'[^'\n]*+'(?!\w)|(?<!\w)‘[^‘’\n]*+’(?!\w)"""
    r"""|<(\w++)[^<>]*+>[^<>]*+</\2>|(?<!\w)\w++://\S++"""
)
_PASTED = re.compile(
    r"""\t|[ ]{4}|\s*(?:Traceback[ ]\(|File[ ]"|at[ ][\w.$]++\(|(?:>>>|\.\.\.|\$)[ ]|\[?\d{4}-\d\d|[\w.]+(?:Error|Exception|Warning):)"""
)
_PATH = re.compile(r"(?:[A-Za-z]:|~|\.{1,2})?[\\/]")
_VOWELS = frozenset("aeiouyhàâéèêîôû")
_DASHES = str.maketrans("–—…", "   ")


class _Lexicon(NamedTuple):
    """The listed words of a language: `loose` ones English has too, `firm` ones it has not, `own` ones are in no other list at all."""

    words: frozenset[str]
    loose: frozenset[str]
    firm: frozenset[str]
    own: frozenset[str]

    @classmethod
    def of(cls, code: str) -> _Lexicon:
        words, others = _listed(code), frozenset().union(*(_listed(other) for other in _LISTS if other != code))
        loose = words & (others if code == "en" else _listed("en") | frozenset(_LISTS[code].partition("/")[2].split()))
        return cls(words, loose, words - loose, words - loose - others)

    def points(self, words: Set[str]) -> int:
        return 2 * len(words & self.firm) + min(len(words & self.loose), _HALVES)


def _listed(code: str) -> frozenset[str]:
    return frozenset(_LISTS[code].replace("/", " ").split())


_LEXICONS = {code: _Lexicon.of(code) for code in _LISTS}
_UNLISTED = _Lexicon(*[frozenset[str]()] * 4)
_LISTED = frozenset().union(*(lexicon.words for lexicon in _LEXICONS.values()))
_LOOSE = frozenset().union(*(lexicon.loose for lexicon in _LEXICONS.values()))


def foreign_language(question: str, allowed: Sequence[str] = ("en",)) -> str | None:
    """Return the ISO 639-1 code of the language of `question` when it is clearly none of `allowed`, else None.

    `allowed` has language tags, of which only the language counts ("pt-BR" is "pt"). A script that an allowed language is written in is
    never foreign, and neither is text without words: code, paths, messages, quotations, mathematics, names.
    """
    spoken = {tag.casefold().replace("_", "-").partition("-")[0] for tag in allowed}
    spoken.update(*(_KIN[code].split() for code in spoken & _KIN.keys()))
    known = [_LEXICONS[code] for code in spoken & _LEXICONS.keys()]
    prose = _prose(question)
    sentences = list(_sentences(prose))
    if any(len(sentence & lexicon.own) >= _SENTENCE for lexicon in known for sentence in sentences):
        return None
    words = frozenset[str]().union(*sentences)
    familiar = frozenset[str]().union(*(lexicon.words for lexicon in known))
    points = {code: lexicon.points(words - familiar) for code, lexicon in _LEXICONS.items() if code not in spoken}
    points |= _letters(prose, spoken)
    best = max(points, key=lambda code: (points[code], len(words & _LEXICONS.get(code, _UNLISTED).words)), default="")
    against = 2 * len(words & familiar - _LEXICONS.get(best, _UNLISTED).words)
    if points.get(best, 0) >= max(_ENOUGH + against, 2 * against):
        return best
    if any(words & lexicon.own for lexicon in known):
        return None
    likely = _by_statistics(prose, hinted={code for code, number in points.items() if number >= _HINT})
    return likely if likely not in spoken and not words & familiar - _LEXICONS.get(likely or "", _UNLISTED).words else None


def _prose(text: str) -> str:
    """Return `text` without what is quoted or pasted: code, strings, addresses, elements, tracebacks, log lines, prompts."""
    text = _QUOTED.sub(" ", text.strip())
    prose = "\n".join(line for line in text.splitlines() if not _PASTED.match(line))
    return prose if len(prose) <= 2 * _END else f"{prose[:_END]}\n{prose[-_END:]}"


def _sentences(prose: str) -> Iterator[frozenset[str]]:
    """Yield the listed words of each sentence: single words, pairs joined by "_", and Spanish opening marks."""
    shouting = prose.isupper()
    for line in prose.replace("’", "'").translate(_DASHES).splitlines():
        words: list[str] = []
        previous, opening = "", True
        for chunk in line.split():
            read = _read(chunk, opening=opening, shouting=shouting)
            words += read
            if previous and read:
                words.append(f"{previous}_{read[0]}")
            previous, opening = read[-1] if read else "", chunk[-1] in ".?!"
            if opening:
                yield _LISTED.intersection(words)
                words = []
        yield _LISTED.intersection(words)


def _read(chunk: str, *, opening: bool, shouting: bool) -> list[str]:
    """Return the words of `chunk`, a piece of text between blanks, in lower case: none, one, or an elided word and its follower."""
    bare = chunk.lstrip("([¿¡*").rstrip(")]*.,:;?!")
    if not bare or len(bare) > _LONGEST or (len(bare) > 1 and bare.isupper() and not shouting):
        return []
    word = bare if bare == "I" else normalize("NFC", bare).lower()
    # "de, en, la" are codes, "und, oder" are quoted, "De Morgan" is a name: a function word neither ends a phrase nor has a capital
    if chunk[-1] in ",:;" or (word in _LOOSE and bare[0].isupper() and not opening and not shouting):
        return []
    elided, mark, follower = word.rpartition("'")
    read = [elided + mark, follower] if mark and word not in _LISTED and follower[:1] in _VOWELS else [word]
    return ["¿", *read] if chunk[0] in "¿¡" else read


def _by_statistics(prose: str, *, hinted: Set[str]) -> str | None:
    """Return the language that the words of `prose` look like: one of those `hinted` if likely, any if sure, None if neither."""
    words = [bare for chunk in prose.split() if (bare := chunk.strip("(¿¡.,:;?!)")).isalpha() and (bare.islower() or bare.istitle())]
    if sum(word.islower() for word in words) < _PLAIN:
        return None
    code, probability = _identifier().classify(" ".join(words)[:_SAMPLE])
    return code if code not in _NO_ANSWERS and probability >= (_LIKELY if code in hinted else _SURE) else None


@cache
def _identifier() -> Any:
    """Return a naive Bayes classifier over byte n-grams (Lui and Baldwin 2012), its probabilities scaled by length."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([*{*_LISTS, *_NO_ANSWERS}])
    return identifier


def _letters(prose: str, spoken: Set[str]) -> dict[str, int]:
    """Return the language whose script most of `prose` is in, with its points, if it is neither Latin nor that of one `spoken`."""
    if prose.isascii():
        return {}
    chunks = [chunk for chunk in prose.split() if not _is_path(chunk)]
    words: dict[str, float] = defaultdict(float)
    for letter, times in Counter("".join(chunks)).most_common(_DISTINCT):
        script, _, rest = name(letter, "").partition(" ")
        # Greek letters are mathematics until one has an accent
        if script in _SCRIPTS and letter.isalpha() and (script != "GREEK" or "WITH" in rest):
            languages, length = _SCRIPTS[script]
            words[languages] += times / length
    if "ja" in words:
        words["ja"] += words.pop("zh ja", 0)
    plain = sum(chunk.isascii() and chunk.isalpha() and chunk.islower() for chunk in chunks)
    languages, count = max(words.items(), key=lambda item: item[1], default=("", 0))
    codes = languages.split()
    if not codes or count < plain or not spoken.isdisjoint(codes):
        return {}
    telling = (code for code in codes if not set(_TELLTALE.get(code, "")).isdisjoint(prose))
    return {next(telling, codes[0]): int(2 * count)}


def _is_path(chunk: str) -> bool:
    """Return whether `chunk` is a path of a file, so that the names of its folders say nothing."""
    ending = chunk.rpartition(".")[2]
    return bool(_PATH.match(chunk)) or (("/" in chunk or "\\" in chunk) and len(ending) < 6 and ending.isascii() and ending.isalnum())
