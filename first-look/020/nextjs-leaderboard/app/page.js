export default function Page() {
  return <main><h1>Leaderboard</h1><p>See /api/rankings/eu</p></main>
}
