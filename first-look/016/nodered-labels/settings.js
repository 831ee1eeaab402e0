// Node-RED settings of the label desk: no editor, no admin API.
module.exports = {
  uiPort: Number(process.env.PORT),
  uiHost: '127.0.0.1',
  flowFile: 'flows.json',
  httpAdminRoot: false,
  disableEditor: true,
  credentialSecret: false,
  diagnostics: { enabled: false },
  runtimeState: { enabled: false },
  // the load balancer keeps its connections for a minute
  httpNodeMiddleware: (req, res, next) => { req.socket.server.keepAliveTimeout = 65000; next(); },
  telemetry: { enabled: false, updateNotification: false },
  logging: { console: { level: 'warn', metrics: false, audit: false } },
  functionGlobalContext: {
    trace: process.env.LABELS_TRACE
      ? (line) => require('fs').appendFileSync(process.env.LABELS_TRACE, line + '\n')
      : null,
  },
};
