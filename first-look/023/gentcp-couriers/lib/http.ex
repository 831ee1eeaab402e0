defmodule Http do
  @moduledoc "HTTP/1.1 on gen_tcp: a server with a process for each connection, and a client that keeps its connections."

  # --- server

  def serve(port, handler) do
    {:ok, listener} =
      :gen_tcp.listen(port, [:binary, packet: :http_bin, active: false, reuseaddr: true, nodelay: true, backlog: 256, ip: {127, 0, 0, 1}])

    for _ <- 1..4, do: spawn_link(fn -> accept(listener, handler) end)
    Process.sleep(:infinity)
  end

  defp accept(listener, handler) do
    {:ok, socket} = :gen_tcp.accept(listener)
    pid = spawn(fn -> receive do: (:go -> connection(socket, handler)) end)
    :ok = :gen_tcp.controlling_process(socket, pid)
    send(pid, :go)
    accept(listener, handler)
  end

  defp connection(socket, handler) do
    case :gen_tcp.recv(socket, 0, 75_000) do
      {:ok, {:http_request, :GET, {:abs_path, target}, _}} ->
        skip_headers(socket)
        uri = URI.parse(target)
        {status, body} = handler.(String.split(uri.path, "/", trim: true), URI.decode_query(uri.query || ""))
        json = :jiffy.encode(body)

        :gen_tcp.send(socket, [
          "HTTP/1.1 #{status} #{if status == 200, do: "OK", else: "Error"}\r\nContent-Type: application/json\r\n",
          "Content-Length: #{IO.iodata_length(json)}\r\n\r\n",
          json
        ])

        connection(socket, handler)

      _ ->
        :gen_tcp.close(socket)
    end
  end

  defp skip_headers(socket) do
    case :gen_tcp.recv(socket, 0, 5_000) do
      {:ok, :http_eoh} -> :ok
      {:ok, _} -> skip_headers(socket)
    end
  end

  # --- client

  defmodule Connections do
    @moduledoc "Owns the idle connections to a port, the most recently used first."
    use GenServer

    def start_link(port), do: GenServer.start_link(__MODULE__, port, name: __MODULE__)

    def init(port), do: {:ok, {port, []}}

    def handle_call(:take, _, {port, [socket | rest]}), do: {:reply, {:ok, socket}, {port, rest}}
    def handle_call(:take, _, {port, []}), do: {:reply, {:dial, port, self()}, {port, []}}
    def handle_cast({:give, socket}, {port, idle}), do: {:noreply, {port, [socket | idle]}}
  end

  def get(path) do
    socket =
      case GenServer.call(Connections, :take) do
        {:ok, socket} ->
          socket

        {:dial, port, owner} ->
          {:ok, socket} = :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, packet: :http_bin, active: false, nodelay: true])
          :ok = :gen_tcp.controlling_process(socket, owner)
          socket
      end

    :ok = :inet.setopts(socket, packet: :http_bin)
    :ok = :gen_tcp.send(socket, "GET #{path} HTTP/1.1\r\nHost: courier\r\n\r\n")
    {:ok, {:http_response, _, status, _}} = :gen_tcp.recv(socket, 0, 10_000)
    length = response_length(socket, 0)
    :ok = :inet.setopts(socket, packet: :raw)
    {:ok, body} = :gen_tcp.recv(socket, length, 10_000)
    GenServer.cast(Connections, {:give, socket})
    {status, :jiffy.decode(body, [:return_maps])}
  end

  defp response_length(socket, length) do
    case :gen_tcp.recv(socket, 0, 10_000) do
      {:ok, :http_eoh} -> length
      {:ok, {:http_header, _, :"Content-Length", _, value}} -> response_length(socket, String.to_integer(value))
      {:ok, _} -> response_length(socket, length)
    end
  end
end
