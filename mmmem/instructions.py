"""What a question says of the task and not of what is remembered.

"Which answer best matches the memory?" beside four options, or "Based on our conversation," before a question, names nothing that
a memory could hold. Its words are rare among a user's memories, and so would weigh more than all others.
"""

from __future__ import annotations

import re

from mmmem.texts import asks

_CLAUSE = re.compile(r".+?(?:[.!?;:](?=\s|\Z)|,(?=\s)|[\n，。！？；：、]|\Z)[\s.!?]*", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OF_TASKS = """
a about above according accurate accurately actually again all also am among an and answer answered answering answers any are as
ask asked asks assistant at b back based be been being below best better between briefly but by c can carefully case chat chats
choice choices choose chose chosen claim claims clearly closest concise concisely consider considering consistent context
conversation conversations correct correctly correspond corresponding corresponds could d description descriptions described
describes detail details determine dialog dialogs dialogue dialogues did discussed discussion discussions do does e each earlier
either evidence exactly excerpt f fact facts false find fit fits fitting following for from given give g h had happened has have
hello help here hey hi history how i identify if in incorrect indicate information is it its just knew know known knows least
letter likely look made mark match matched matches matching me memories memory mention mentioned mentions message messages more
most my need nearest no none not now of ok okay on one ones only option options or our out over passage past pick plausible please
possible previous previously prior probably provide provided provides question questions read recall recalled reflect reflected
reflects regarding relate related relates relevant remember remembered remind reply respond response responses right said say
saying says select selected session sessions share shared should single so some sorry state stated statement statements states
suitable summary support supported supports sure tell telling text thank thanks that the their them then there these they thing
things think this those to told true truth turn turns two up us use used user users using valid want was we well were what when
where which who whom whose why will with word words would wrong you your yours
"""
_ENGLISH = frozenset(_OF_TASKS.split())
_OF_CHOICES = """
accurate answer answers best choice choices choose claim claims consistent correct described false following incorrect likely
match matched matches matching option options pick right select statement statements supported true wrong
"""
_CHOICES = frozenset(_OF_CHOICES.split())
_EASTERN = re.compile(
    "请|請|以下|下列|下面|上述|哪一?[个個项項种種条條]|哪些|是|的|最|正确|正確|错误|錯誤|准确|準確|真实|真實|符合|匹配|相符|一致|答案|选项|選項"
    "|选择|選擇|选出|選出|回答|问题|問題|陈述|陳述|说法|說法|描述|记忆|記憶|对话|對話|聊天|记录|記錄|内容|內容|上文|历史|歷史|信息|根据|根據"
    "|基于|基於|关于|關於|我们|我們|你们|你|我|用户|用戶|提到|提及|之前|以前|过去|過去|与|與|和|中|里|裡|吗|嗎|呢|了|一?[个個项項]"
    "|对|對|次の|うち|どれ|正しい|もの|は|が|です|ます|か|に|で|を|会話|質問|答え|選択肢|選んで|ください"
)


def without_instructions(question: str, *, options: bool) -> str:
    """The clauses of a question that say something of what is remembered, as they stand; empty where none does.

    options: whether choices come with it. Then of a clause about them ("Which of these is true about Ann?") what says something
    stays ("Ann"). Where none come, a clause that asks stays: "What did she say?" is all there is.
    """
    clauses = _CLAUSE.findall(question)
    if options:
        said = [_of_choices(clause) for clause in clauses if _says_something(clause)]
    else:
        said = [clause for clause in clauses if _says_something(clause) or asks(clause)]
    return "".join(said).strip()


def _of_choices(clause: str) -> str:
    words = clause.split()
    if not any(word.casefold() in _CHOICES for word in _WORD.findall(clause)):
        return clause
    return " ".join(word for word in words if _says_something(word)) + clause[len(clause.rstrip()) :]


def _says_something(clause: str) -> bool:
    if _EAST.search(clause):
        clause = _EASTERN.sub(" ", clause)
    return any(word.casefold() not in _ENGLISH for word in _WORD.findall(clause.replace("’", "'").replace("'s ", " ")))
