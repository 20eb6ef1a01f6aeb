"""Texts of many kinds for counting: prose written for this, and data made from a fixed seed."""

import base64
import json
import random
import uuid

ENGLISH = """The harbour office closed at noon on Saturday, so we carried the last crates up the hill
ourselves. Nobody had told the new keeper that the northern lamp needs a longer wick in autumn, when
the fog comes in from the strait and stays until the wind turns. He learned quickly. By October he
kept a small notebook with
the hours of each tide, the names of the boats that were still out, and a column for whatever seemed strange
to him: a bell without a ship, a light where no house stands, three gulls that slept on the rail all night.
When the committee asked for a report, he copied that column word for word and added a single sentence. "I do
not explain these things," he wrote, "I only say when they happened." They paid him for the winter and asked
whether he would like to stay; he answered that the stove smoked, the roof leaked above the stairs, and that
he would not think of living anywhere else. The following spring a second notebook was already half full.
"""
VIETNAMESE = """Sáng thứ bảy, khi chợ nổi vừa họp được nửa giờ thì trời đổ mưa. Những người bán trái cây
kéo bạt che thuyền, còn bà cụ bán cà phê vẫn ngồi yên ở mũi ghe, tay giữ chiếc ấm cho khỏi đổ. Khách du lịch
đứng nép dưới mái hiên của bến tàu, hỏi nhau xem mưa này có lâu không. Một anh lái đò cười bảo rằng mưa tháng
bảy ở đây giống như người khách vội vàng: đến không báo trước, đi cũng chẳng chào ai. Quả nhiên chưa đầy hai
mươi phút sau, nắng lại lên, mặt sông lấp lánh như có ai vừa rắc bạc vụn. Chợ trở lại ồn ào, tiếng mặc cả lẫn
với tiếng máy nổ, mùi sầu riêng quyện với mùi khói bếp. Chúng tôi mua một nải chuối, hai trái xoài và thuê
thuyền đi tiếp về phía cù lao, nơi người ta vẫn dệt chiếu bằng tay theo cách của ông bà ngày xưa.
"""
CHINESE = (
    "周末的早晨，城南的旧书市场比平时热闹得多。摊主们天不亮就把书摆出来，有的按年代排列，有的干脆堆在地上"
    "，任由客人自己翻找。我在一个角落里发现了一本民国时期的地理教科书，封面已经褪色，里面却夹着一张手绘的"
    "地图，标注着几条今天已经不存在的河流。摊主说，这本书是从一位退休教师家里收来的，老人搬家时舍不得扔，"
    "又没有地方放。我们谈了很久，从纸张的质量谈到印刷厂的变迁，最后他只收了我二十块钱。回家的路上，我一直"
    "在想，那些河流是什么时候消失的，画地图的人后来去了哪里。也许有一天，我会按照这张图走一遍，看看剩下的"
    "桥和街道，还能不能让人想起水的声音。"
)
JAPANESE = (
    "港町の朝は早い。まだ空が暗いうちから、市場の人たちは氷を砕き、木箱を並べ、その日の魚の値段を小さな黒"
    "板に書いていく。私がこの町に引っ越してきたのは三年前の春で、最初は潮の匂いになかなか慣れなかった。と"
    "ころが今では、窓を開けて海の音が聞こえないと、なんだか落ち着かない。先週の土曜日、隣に住む漁師のおじ"
    "いさんが、古い網の直し方を教えてくれた。ゆっくり引っ張りながら結び目をつくるのだと言うけれど、私の手"
    "は思うように動かず、結局ほとんどやり直しになってしまった。それでもおじいさんは笑って、「十年もやれば"
    "誰でもできるよ」と言いながら、温かいお茶をいれてくれた。来月は祭りがあるので、町のみんなで提灯を作る"
    "予定だ。"
)
KOREAN = (
    "지난 주말에 우리는 오래된 기차역을 찾아갔다. 지금은 기차가 다니지 않지만 마을 "
    "사람들이 역사를 작은 도서관으로 바꾸어 놓았다. 대합실에는 긴 나무 의자가 그대로 남아 "
    "있고, 매표소 자리에는 아이들이 그린 그림이 걸려 있었다. 관장님은 젊었을 때 이 "
    "역에서 역무원으로 일했다고 한다. 눈이 많이 오던 해에는 기차가 하루 종일 멈추어 서서 "
    "승객들이 역 안에서 밤을 보냈는데, 그때 누군가 들려준 이야기를 아직도 기억한다고 "
    "했다. 우리는 창가에 앉아 따뜻한 보리차를 마시며 오후 내내 책을 읽었다. 돌아오는 "
    "길에 친구가 말했다. 언젠가 이 선로를 따라 바다까지 걸어가 보고 싶다고. 나는 그 "
    "말을 듣고 고개를 끄덕였지만, 사실은 그 길이 얼마나 먼지 잘 알지 못했다. "
)


def texts() -> dict[str, str]:
    """One text a class, at least a kilobyte each, the same on every machine."""
    made = random.Random(20)
    return {
        "English": ENGLISH,
        "Python": _python(made),
        "JSON": json.dumps([_record(made) for _ in range(20)], indent=2),
        "Vietnamese": VIETNAMESE,
        "Chinese": CHINESE,
        "Japanese": JAPANESE,
        "Korean": KOREAN,
        "base64": base64.b64encode(made.randbytes(1500)).decode(),
        "UUIDs": "\n".join(str(uuid.UUID(bytes=made.randbytes(16))) for _ in range(60)),
        "tool output": _tool_output(made),
    }


def _python(made: random.Random) -> str:
    """Code of ordinary shape, so that the text does not change with the project."""
    verbs, nouns = ["load", "merge", "check_all", "render"], ["rows", "open_files", "user_index"]
    parts = []
    for number in range(12):
        verb, noun = made.choice(verbs), made.choice(nouns)
        parts.append(
            f"def {verb}_{noun}_{number}(path: Path, *, limit: int | None = None) -> list[str]:\n"
            f'    """Return the {noun} that were found, at most `limit`."""\n'
            f"    found = [line.strip() for line in path.read_text().splitlines() if line]\n"
            f"    if limit is not None and len(found) > limit:\n"
            f'        raise ValueError(f"too many {noun}: {{len(found)}} > {{limit}}")\n'
            f"    return sorted(found, key=lambda value: (len(value), value))[: limit or {number}]\n"
        )
    return "\n\n".join(parts)


def _record(made: random.Random) -> dict[str, object]:
    return {
        "id": made.randrange(10**6),
        "title": made.choice(["Invoice overdue", "New customer", "Password reset", "Refund"]),
        "priority": made.choice(["low", "normal", "high"]),
        "created_at": f"2026-0{made.randint(1, 9)}-{made.randint(10, 28)}T08:{made.randint(10, 59)}:00Z",
        "amount": round(made.random() * 5000, 2),
        "tags": made.sample(["billing", "urgent", "europe", "retry", "manual"], 2),
        "assignee": {"name": made.choice(["Ana", "Bo", "Chen"]), "active": made.random() < 0.5},
    }


def _tool_output(made: random.Random) -> str:
    lines = ["$ ls -la src", "total 96"]
    for name in ("main.py", "parser.py", "test_parser.py", "settings.toml", "README.md"):
        lines.append(
            f"-rw-r--r-- 1 app app {made.randint(100, 99999):>6} Nov 12 09:4{made.randint(0, 9)} {name}"
        )
    lines += [
        "$ pytest -x",
        "============ test session starts ============",
        "collected 42 items",
        "",
    ]
    for number in range(14):
        state = made.choice(["PASSED", "PASSED", "FAILED"])
        lines.append(f"tests/test_parser.py::test_case_{number} {state:<8} [{number * 7:>3}%]")
    lines += [
        "Traceback (most recent call last):",
        '  File "/app/src/parser.py", line 118, in parse_header',
        "    value = int(fields[2], base=16)",
        "ValueError: invalid literal for int() with base 16: '0xZZ'",
        "$ grep -rn 'parse_header' src | head",
    ]
    lines += [
        f"src/main.py:{made.randint(1, 400)}:    header = parse_header(line)" for _ in range(6)
    ]
    lines += [
        "2026-11-12 09:41:07,512 WARNING [http] GET /api/v1/items/8812 404 31ms",
        "exit code 1",
    ]
    return "\n".join(lines)
