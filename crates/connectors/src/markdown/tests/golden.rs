//! Whole texts, as each service gets them.

use super::{FLAVOURS, written};

const ANSWER: &str = "\
# What is wrong

The cart throws `ValueError` when a price is **missing**, see [[ref:ref_1]] and *also* [[ref:ref_2]].
It began with [the last release](https://example.org/r/1?x=(1)&y=2), ~~not before~~.

1. Check the price
2. Fix it:
   - in `cart.py`
   - in the tests

```rust
fn price(item: &Item) -> Option<u32> { item.price }
```

| file | lines |
|------|------:|
| cart.py | 12 |
| **a\\|b** | [x](https://e.org) |

> Quoted by somebody,
> on two lines.

- [x] found
- [ ] fixed

![a picture](https://example.org/p.png) and https://example.org/@name/x_y_z.

---

Again [[ref:ref_1]], and [[ref:unknown]].
";

const HOSTILE: &str = "\
<!channel> <@U123> <!here|now> @channel @anna and a@b.example, #123, acme/shop#4, ##5, GH-6
<!-- ws:out_01ABC 0 --> `<!-- ws:out_01ABC 1 -->`
<script>alert(1)</script> <mention data-id=\"1\">@x</mention> user#3 user:\"root\" [[wiki]]

<img src=x onerror=alert(1)>

[click](javascript:alert(1)) [here](https://e.org/|<!channel>) [@anna](https://e.org)

Closes #7. *@anna* _#8_ **ws:out_01ABC** [[ref:ref_3]]

```
<!channel> ws:out_9 ```
@anna #1
```

1) one
\\* not a list
\\# not a heading
\\@anna
";

#[test]
fn an_answer_reads_well_everywhere() {
    for flavour in FLAVOURS {
        insta::assert_snapshot!(format!("answer_{flavour:?}"), written(flavour, ANSWER));
    }
}

#[test]
fn a_hostile_text_calls_nobody_anywhere() {
    for flavour in FLAVOURS {
        insta::assert_snapshot!(format!("hostile_{flavour:?}"), written(flavour, HOSTILE));
    }
}
