// Copies the types of openapi.json, which the console generates, into a folder of this package.
import { copyFileSync, mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../../..');
const folder = resolve(import.meta.dirname, '..', process.argv[2]);
mkdirSync(folder, { recursive: true });
copyFileSync(resolve(root, 'web/src/api/schema.d.ts'), resolve(folder, 'schema.d.ts'));
