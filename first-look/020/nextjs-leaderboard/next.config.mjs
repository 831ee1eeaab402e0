import path from 'node:path'
/** @type {import('next').NextConfig} */
export default {
  output: 'standalone',
  outputFileTracingRoot: path.resolve('.'),
  poweredByHeader: false,
  compress: false,
}
