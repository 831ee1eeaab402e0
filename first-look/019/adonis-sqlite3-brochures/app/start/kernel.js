import server from '@adonisjs/core/services/server'

server.use([() => import('#middleware/audit_middleware')])
