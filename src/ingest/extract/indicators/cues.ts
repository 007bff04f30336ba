import type { Emit } from './candidate.ts';

type Cue = {
  /** One of these words stands in any text that can match, so that others need not be searched. */
  words: string[];
  pattern: RegExp;
  type: Parameters<Emit>[0];
};

// Values without a form of their own: they count only beside the word that names them. Group 1 is the value.
const cues: Cue[] = [
  { words: ['IMEI', 'imei'], pattern: /\bimei\b[^\d\n]{0,24}(\d{15})\b/gi, type: 'imei' },
  {
    words: ['AWS', 'aws', 'Amazon'],
    pattern: /\b(?:aws|amazon)\b[^\d\n]{0,40}\baccounts?\b[^\d\n]{0,16}(\d{12})\b/gi,
    type: 'aws_account',
  },
  {
    words: ['gserviceaccount'],
    pattern: /@([a-z][a-z0-9-]{4,28}[a-z0-9])\.iam\.gserviceaccount\.com/g,
    type: 'gcp_project',
  },
  {
    words: ['project'],
    pattern: /\b(?:gcp|google cloud)\b[^\n]{0,30}\bproject(?:[ _-]?id)?["'`:=\s]{1,5}([a-z][a-z0-9-]{4,28}\d)\b/gi,
    type: 'gcp_project',
  },
  {
    words: ['.s3'],
    pattern: /\b([a-z0-9][a-z0-9-]{1,61}[a-z0-9])\.s3(?:[.-][a-z0-9-]{4,20})?\.amazonaws\.com/g,
    type: 'bucket',
  },
  {
    words: ['storage.googleapis.com'],
    pattern: /\bstorage\.googleapis\.com\/([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])\b/g,
    type: 'bucket',
  },
  { words: ['blob.core.windows.net'], pattern: /\b([a-z0-9]{3,24})\.blob\.core\.windows\.net/g, type: 'bucket' },
  {
    words: ['Serial', 'serial number', 'SERIAL'],
    pattern: /\bserial(?: number| no\.?)?["'`:=\s|]{1,8}((?:[0-9a-f]{2}[: ]){7,19}[0-9a-f]{2}|[0-9a-f]{16,40})\b/gi,
    type: 'cert_serial',
  },
  {
    words: ['Mutex', 'mutex', 'MUTEX'],
    pattern: /\bmutex(?:es)?(?: name[sd]?)?["'`:=\s|]{1,8}((?:Global|Local)\\[\w{}.-]{3,80})/gi,
    type: 'observable:mutex',
  },
  {
    words: ['Mozilla/'],
    pattern: /\buser[- ]agent["'`:=\s|]{1,6}(Mozilla\/\d[^\n"`|\u201D]{10,240})/gi,
    type: 'observable:user-agent',
  },
  { words: ['ja3', 'JA3'], pattern: /\bja3s?\b[^\n]{0,24}?\b([0-9a-f]{32})\b/gi, type: 'observable:ja3' },
];

/** Finds the values that need a cue. */
export function readCues(text: string, emit: Emit): void {
  for (const { words, pattern, type } of cues) {
    if (!words.some((word) => text.includes(word))) continue;
    for (const match of text.matchAll(pattern)) {
      const start = match.index + match[0].lastIndexOf(match[1]!);
      emit(type, start, start + match[1]!.length);
    }
  }
}
