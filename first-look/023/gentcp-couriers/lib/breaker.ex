defmodule Breaker do
  @moduledoc """
  Circuit breakers with a time limit, all made by one factory.

  So that the time limit can give up on a call, the call is run by an executor and not by who asks:
  `single` is one process that runs one call after the other, `per_call` starts a process for each call.
  """

  @time_limit 4_000
  @failures_to_open 5
  @open_for 10_000

  def start_link(executor) do
    :ets.new(__MODULE__, [:named_table, :public, write_concurrency: true])
    :persistent_term.put({__MODULE__, :executor}, executor)

    case executor do
      :single -> Breaker.SingleExecutor.start_link()
      :per_call -> Task.Supervisor.start_link(name: Breaker.Tasks)
    end
  end

  @doc "Runs `call` under the breaker `name`, or `fallback` if the breaker is open or the call fails or takes too long."
  def run(name, call, fallback) do
    if open?(name) do
      fallback.()
    else
      case execute(:persistent_term.get({__MODULE__, :executor}), call) do
        {:ok, result} ->
          :ets.insert(__MODULE__, {name, 0, nil})
          result

        {:error, _} ->
          failures = :ets.update_counter(__MODULE__, name, {2, 1}, {name, 0, nil})
          if failures >= @failures_to_open, do: :ets.update_element(__MODULE__, name, {3, now() + @open_for})
          fallback.()
      end
    end
  end

  defp open?(name) do
    case :ets.lookup(__MODULE__, name) do
      [{_, _, until}] when is_integer(until) -> now() < until
      _ -> false
    end
  end

  defp now, do: System.monotonic_time(:millisecond)

  defp execute(:single, call) do
    Breaker.SingleExecutor.submit(call, @time_limit)
  catch
    :exit, reason -> {:error, reason}
  end

  defp execute(:per_call, call) do
    task = Task.Supervisor.async_nolink(Breaker.Tasks, call)

    case Task.yield(task, @time_limit) || Task.shutdown(task, :brutal_kill) do
      {:ok, result} -> {:ok, result}
      other -> {:error, other}
    end
  end
end

defmodule Breaker.SingleExecutor do
  @moduledoc "Runs what is submitted, one call after the other."
  use GenServer

  def start_link, do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)
  def submit(call, limit), do: GenServer.call(__MODULE__, {:run, call}, limit)

  def init(_), do: {:ok, nil}

  def handle_call({:run, call}, _from, state) do
    {:reply, {:ok, call.()}, state}
  rescue
    error -> {:reply, {:error, error}, state}
  end
end
