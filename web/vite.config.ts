import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** For `npm run dev` only: the service to use and a key for it. The built console signs in with a session. */
const service = process.env['TOCSIN_URL'] ?? 'http://127.0.0.1:8080';
const headers = process.env['TOCSIN_API_KEY'] ? { authorization: `Bearer ${process.env['TOCSIN_API_KEY']}` } : {};
const proxied = ['/api', '/items', '/stats'];

export default defineConfig({
  base: '/console/',
  plugins: [react(), tailwindcss()],
  build: { target: 'es2023', sourcemap: false, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: Object.fromEntries(proxied.map((path) => [path, { target: service, headers }])) },
});
