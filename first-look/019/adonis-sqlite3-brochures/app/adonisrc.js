import { defineConfig } from '@adonisjs/core/app'

export default defineConfig({
  providers: [
    () => import('@adonisjs/core/providers/app_provider'),
    () => import('./providers/audit_provider.js'),
  ],
  preloads: [() => import('#start/routes'), () => import('#start/kernel')],
})
