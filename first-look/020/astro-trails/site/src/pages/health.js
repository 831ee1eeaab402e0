import { ping } from '../lib/store.mjs'

export const GET = async () => new Response(await ping())
