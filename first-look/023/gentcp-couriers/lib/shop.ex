defmodule Shop do
  @moduledoc "Delivery desk of a web shop: quotes and tracking from the courier, depots from its own list."

  def main([port, courier]) do
    executor = if System.get_env("BREAKER_EXECUTOR") == "per_call", do: :per_call, else: :single
    {:ok, _} = Http.Connections.start_link(String.to_integer(courier))
    {:ok, _} = Breaker.start_link(executor)
    :ets.new(:depots, [:named_table, :public, :ordered_set, read_concurrency: true])
    for n <- 1..400, do: :ets.insert(:depots, {n, "Depot #{n}", rem(n * 7919, 1000), rem(n * 104_729, 1000)})
    Http.serve(String.to_integer(port), &handle/2)
  end

  defp handle(["quotes", country], query) do
    weight = String.to_integer(query["grams"] || "500")

    Breaker.run(
      "quotes",
      fn ->
        {200, offer} = Http.get("/offer/#{country}?grams=#{weight}")
        {200, %{country: country, grams: weight, services: services(offer, weight)}}
      end,
      fn -> {200, %{country: country, grams: weight, services: []}} end
    )
  end

  defp handle(["tracking", parcel], _) do
    Breaker.run(
      "tracking",
      fn ->
        {200, %{"events" => events}} = Http.get("/parcel/#{parcel}")
        {200, %{parcel: parcel, events: events, last: List.last(events)}}
      end,
      fn -> {200, %{parcel: parcel, events: [], last: :null}} end
    )
  end

  defp handle(["depots"], query) do
    x = String.to_integer(query["x"] || "0")
    y = String.to_integer(query["y"] || "0")

    near =
      :ets.tab2list(:depots)
      |> Enum.map(fn {id, name, dx, dy} -> %{id: id, name: name, distance: round(:math.sqrt((dx - x) ** 2 + (dy - y) ** 2))} end)
      |> Enum.sort_by(& &1.distance)
      |> Enum.take(5)

    {200, %{depots: near}}
  end

  defp handle(["health"], _), do: {200, %{ok: true}}
  defp handle(_, _), do: {404, %{error: "not found"}}

  defp services(%{"base" => base, "per_kilo" => per_kilo, "names" => names}, weight) do
    for {name, n} <- Enum.with_index(names), do: %{service: name, cents: base + div(per_kilo * weight, 1000) + n * 250}
  end
end

defmodule Courier do
  @moduledoc "The courier's interface: 4 ms for what it has in its tables, 90 ms for a country that it asks its partner about."

  @partner ["AU", "NZ", "CL"]

  def main([port]), do: Http.serve(String.to_integer(port), &handle/2)

  defp handle(["offer", country], _) do
    Process.sleep(if country in @partner, do: 90, else: 4)
    {200, %{base: 300 + rem(:erlang.phash2(country), 900), per_kilo: 120, names: ["letter", "parcel", "express"]}}
  end

  defp handle(["parcel", id], _) do
    Process.sleep(4)
    {200, %{events: for(n <- 1..(1 + rem(:erlang.phash2(id), 6)), do: %{at: "2024-05-0#{n}T08:00:00Z", place: "Hub #{n}", code: n * 10})}}
  end

  defp handle(_, _), do: {404, %{error: "not found"}}
end
