"""Verifies an export of the audit trail without any code of the hub: audit_verify.py [--partial] export [public key ...]

The layout of every byte is told in docs/guides/audit.md.
"""
import base64, hashlib, hmac, json, struct, sys
from datetime import datetime

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None

ENTRY = ["workspace", "actor", "role", "session", "jti", "request_id", "action", "object", "outcome", "request", "response"]
BYTES = {"request_id", "request", "response", "root", "previous", "detail_commitment"}


def number(value):
    return struct.pack(">q", value)


def field(record, name):
    value = bytes.fromhex(record[name]) if name in BYTES else record[name].encode()
    return struct.pack(">Q", len(value)) + value


def ms(time):
    return round(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)


def entry_hash(e):
    version, names = (b"v2", ENTRY + ["detail_commitment"]) if "detail_commitment" in e else (b"v1", ENTRY)
    data = b"waystation/audit-entry/" + version + b"\0" + number(e["id"]) + number(ms(e["at"])) + b"".join(field(e, name) for name in names)
    return hashlib.sha256(b"\0" + data).digest()


def detail_fits(e):
    """Whether a detail is the one that the entry was made with; one that was erased is not wrong."""
    if e["detail"] is None:
        return True
    made = e["salt"] and hmac.new(bytes.fromhex(e["salt"]), b"detail\0" + e["detail"].encode(), hashlib.sha256).hexdigest()
    return made == e["detail_commitment"]


def root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root(leaves[:split]) + root(leaves[split:])).digest()


def seal_hash(s):
    numbers = [s["id"], s["first_id"], s["last_id"], s["entries"], ms(s["sealed"])]
    fields = [field(s, name) for name in ("root", "previous", "key_id")]
    return hashlib.sha256(b"waystation/audit-seal/v1\0" + b"".join(map(number, numbers)) + b"".join(fields)).digest()


def check(condition, what):
    if not condition:
        sys.exit(print(what) or 1)


def main(partial, export, *public):
    keys = {hashlib.sha256(key).hexdigest()[:16]: key for key in (base64.b64decode(open(path).read()) for path in public)}
    waiting, before, good, seals, committed = [], None, 0, 0, False
    for record in map(json.loads, open(export, encoding="utf-8")):
        if record["type"] == "entry":
            waiting.append(entry_hash(record))
            if "detail_commitment" in record:
                check(detail_fits(record), f"entry {record['id']}: the detail was rewritten")
                committed = True
            check(not committed or record["detail"] is None or "detail_commitment" in record, f"entry {record['id']}: the detail was added")
            continue
        name, stored = f"seal {record['id']}", bytes.fromhex(record["leaves"])
        leaves = [stored[at:at + 32] for at in range(0, len(stored), 32)]
        check(len(leaves) == record["entries"] and root(leaves).hex() == record["root"], f"{name}: leaves or root differ")
        check(seal_hash(record).hex() == record["hash"], f"{name}: hash differs")
        expected = before or (None if partial else (0, "00" * 32))
        check(expected in (None, (record["id"] - 1, record["previous"])), f"{name}: the chain is broken")
        at = leaves.index(waiting[0]) if partial and waiting and waiting[0] in leaves else 0
        check(waiting == (leaves[at:at + len(waiting)] if partial else leaves), f"{name}: entries differ")
        if Ed25519PublicKey and keys:
            check(record["key_id"] in keys, f"{name}: unknown key")
            Ed25519PublicKey.from_public_bytes(keys[record["key_id"]]).verify(bytes.fromhex(record["signature"]), bytes.fromhex(record["hash"]))
        before, good, seals, waiting = (record["id"], record["hash"]), good + len(waiting), seals + 1, []
    signed = "verified" if Ed25519PublicKey and keys else "not verified"
    print(f"{good} entries under {seals} seals are good, {len(waiting)} are not sealed yet, signatures {signed}")


arguments = [argument for argument in sys.argv[1:] if argument != "--partial"]
main("--partial" in sys.argv, *arguments)
