import { defineConfig } from 'prisma/config'
export default defineConfig({ schema: 'prisma/schema.prisma', datasource: { url: 'mysql://shop:shop@127.0.0.1/shop' } })
