"""Sixty pain.001 batches: make-batches.py FOLDER"""
import os
import random
import sys

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
rnd = random.Random(11)
for b in range(1, 61):
    rows = []
    for i in range(70 + b % 11):
        rows.append(
            f"<CdtTrfTxInf><PmtId><InstrId>I{b}-{i}</InstrId><EndToEndId>E{b}-{i}</EndToEndId></PmtId>"
            f"<Amt><InstdAmt Ccy=\"EUR\">{rnd.randint(100, 900000) / 100:.2f}</InstdAmt></Amt>"
            f"<CdtrAgt><FinInstnId><BIC>BANKDE{rnd.randint(10, 99)}XXX</BIC></FinInstnId></CdtrAgt>"
            f"<Cdtr><Nm>Creditor {rnd.randint(1, 99999)}</Nm><PstlAdr><Ctry>DE</Ctry><AdrLine>Street {rnd.randint(1, 200)}</AdrLine></PstlAdr></Cdtr>"
            f"<CdtrAcct><Id><IBAN>DE{rnd.randint(10**19, 10**20 - 1)}</IBAN></Id></CdtrAcct>"
            f"<RmtInf><Ustrd>Invoice {rnd.randint(10**6, 10**7)}</Ustrd></RmtInf></CdtTrfTxInf>"
        )
    with open(os.path.join(out, f"batch-{b}.xml"), "w") as f:
        f.write(
            f"<?xml version=\"1.0\"?><Document><CstmrCdtTrfInitn><GrpHdr><MsgId>M{b}</MsgId><NbOfTxs>{len(rows)}</NbOfTxs></GrpHdr>"
            f"<PmtInf><Dbtr>Debtor {b}</Dbtr>{''.join(rows)}</PmtInf></CstmrCdtTrfInitn></Document>"
        )
