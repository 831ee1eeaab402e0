from sqlalchemy import Float, ForeignKey, Index, Integer, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    email: Mapped[str] = mapped_column(String(80))
    plan: Mapped[str] = mapped_column(String(12))
    weekly_limit: Mapped[float] = mapped_column(Float)
    weekly_used: Mapped[float] = mapped_column(Float)


class Usage(Base):
    __tablename__ = "usage"
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    model: Mapped[str] = mapped_column(String(24))
    tokens: Mapped[int] = mapped_column(Integer)
    at: Mapped[int] = mapped_column(Integer)
    __table_args__ = (Index("usage_account", "account_id", "at"),)


class DemandRollup(Base):
    """Demand of a quarter of an hour at its full grain."""
    __tablename__ = "request_demand_quarter_rollups"
    slot: Mapped[int] = mapped_column(Integer, primary_key=True)
    account_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    api_key_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    model: Mapped[str] = mapped_column(String(24), primary_key=True)
    reasoning_effort: Mapped[str] = mapped_column(String(8), primary_key=True)
    request_kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    status: Mapped[str] = mapped_column(String(12), primary_key=True)
    requests: Mapped[int] = mapped_column(Integer)
    input_tokens: Mapped[int] = mapped_column(Integer)
    output_tokens: Mapped[int] = mapped_column(Integer)
    cost: Mapped[float] = mapped_column(Float)
