import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { referenceFiles } from './scripts/reference-files.mjs';

/** For `npm run dev` only: the service to use and a key for it. The built console signs in with a session. */
const { TOCSIN_URL: service = 'http://127.0.0.1:8080', TOCSIN_API_KEY: key } = process.env;
const proxied = ['/api', '/items', '/stats'];
const dist = join(import.meta.dirname, 'dist');

/** Writes a brotli and a gzip copy beside every text file, which the service sends as they are. */
const precompress: Plugin = {
  name: 'precompress',
  apply: 'build',
  closeBundle() {
    for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|css|html|svg)$/.test(name)) continue;
      const file = join(dist, name);
      const content = readFileSync(file);
      writeFileSync(`${file}.br`, brotliCompressSync(content));
      writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  base: '/console/',
  // Scripts and styles find each other wherever the service is. The service puts its path into the page.
  experimental: { renderBuiltUrl: (_file, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  plugins: [react({ jsxImportSource: '#jsx' }), tailwindcss(), referenceFiles, precompress],
  build: { target: 'es2023', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: {
    proxy: Object.fromEntries(
      proxied.map((path) => [path, { target: service, ...(key && { headers: { authorization: `Bearer ${key}` } }) }]),
    ),
  },
});
