import 'reflect-metadata'
import { createServer } from 'node:http'
import { createExpressServer } from 'routing-controllers'
import { HealthController, LabelController, ParcelController } from './controllers'
import { close, warmUp } from './renderers'

const app = createExpressServer({
  controllers: [ParcelController, LabelController, HealthController],
  validation: true,
  defaultErrorHandler: true
})
app.disable('x-powered-by')

const server = createServer(app)
server.keepAliveTimeout = 65_000
warmUp().then(() => server.listen(Number(process.env.PORT), '127.0.0.1'))
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    close()
    setTimeout(() => process.exit(0), 50)
  })
}
