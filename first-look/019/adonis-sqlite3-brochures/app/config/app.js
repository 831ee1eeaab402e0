import { defineConfig } from '@adonisjs/core/http'

export const appKey = process.env.APP_KEY ?? 'not-a-secret-only-for-the-brochure-shop'

export const http = defineConfig({
  generateRequestId: false,
  allowMethodSpoofing: false,
  useAsyncLocalStorage: false,
  cookie: { domain: '', path: '/', maxAge: '2h', httpOnly: true, secure: false, sameSite: 'lax' },
})
