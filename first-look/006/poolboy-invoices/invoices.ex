defmodule Db do
  # a poolboy worker is one connection of p1_pgsql
  def start_link(opts) do
    :pgsql.connect(~c"127.0.0.1", ~c"postgres", ~c"shop", ~c"", opts[:port])
  end

  def query(sql) do
    :poolboy.transaction(:db, fn conn ->
      {:ok, [{_, _, rows}]} = :pgsql.squery(conn, sql)
      rows
    end, 10_000)
  end
end

defmodule Web do
  require Record
  Record.defrecord(:mod, Record.extract(:mod, from_lib: "inets/include/httpd.hrl"))

  def unquote(:do)(m) do
    :inet.setopts(mod(m, :socket), nodelay: true)
    path = m |> mod(:request_uri) |> to_string() |> String.split("/", trim: true)
    body = page(path)
    head = [code: 200, content_type: ~c"text/html", content_length: Integer.to_charlist(IO.iodata_length(body))]
    {:proceed, [response: {:response, head, [IO.iodata_to_binary(body)]}]}
  end

  defp page(["customer", id]) do
    rows = Db.query("select id, due, cents from invoices where customer = #{String.to_integer(id)} order by due limit 10")
    ["<ul>", Enum.map(rows, fn r -> ["<li>", Enum.intersperse(r, " "), "</li>"] end), "</ul>"]
  end

  defp page(["statement", id]) do
    first = String.to_integer(id)
    rows = Db.query("select id, due, cents from invoices where customer between #{first} and #{first + 15}")
    total = Enum.reduce(rows, %{}, fn [_, due, c], m -> Map.update(m, due, num(c), &(&1 + num(c))) end)
    ["<table>", Enum.map(Enum.sort(total), fn {d, c} -> ["<tr><td>", d, "</td><td>", Integer.to_string(c), "</td></tr>"] end), "</table>"]
  end

  defp page(["year", id]) do
    rows = Db.query("select sum(cents), count(*), pg_sleep(0.2) from invoices where customer = #{String.to_integer(id)}")
    ["<p>", inspect(rows), "</p>"]
  end

  defp page(_), do: "ok"

  defp num(c), do: c |> to_string() |> String.to_integer()
end

defmodule Main do
  def run do
    [port, db, size, root] = System.argv()
    {:ok, _} = Application.ensure_all_started(:p1_pgsql)
    {:ok, _} = :poolboy.start_link([name: {:local, :db}, worker_module: Db, size: String.to_integer(size), max_overflow: 0, strategy: :fifo], port: String.to_integer(db))
    {:ok, _} = Application.ensure_all_started(:inets)
    {:ok, _} = :inets.start(:httpd, port: String.to_integer(port), bind_address: {127, 0, 0, 1}, server_name: ~c"invoices",
      server_root: to_charlist(root), document_root: to_charlist(root), modules: [Web],
      max_keep_alive_request: 100_000_000, keep_alive_timeout: 60)
    Process.sleep(:infinity)
  end
end
