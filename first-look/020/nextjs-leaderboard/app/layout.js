export const metadata = { title: 'Leaderboard' }
export default function RootLayout({ children }) {
  return <html lang="en"><body>{children}</body></html>
}
