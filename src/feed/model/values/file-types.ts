import { matching, toLower, toNfc } from './normalize.ts';
import {
  defineTypes,
  mispAttribute,
  never,
  plainType,
  stixProperty,
  type IndicatorTypeDescriptor,
} from './indicator-type.ts';

/** The fields that all hashes of files share. MISP has an attribute type of the same name. */
const hash = (name: string, stixName: string) =>
  ({
    bucket: 'hashes',
    ttlDays: 365,
    isRecognized: false,
    digestDigits: null,
    logField: 'hash',
    platform: null,
    proseScore: 0.7,
    csv: { column: new RegExp(`^${name}$`), word: new RegExp(`^(?:file)?(?:hash)?${name}$`) },
    stix: stixProperty('file', ['hashes', stixName]),
    misp: mispAttribute('Payload delivery', name),
  }) as const satisfies Partial<IndicatorTypeDescriptor>;

/** A hash that is recognized by the number of its digits. */
const digest = (name: string, digits: number, stixName: string) =>
  ({
    ...hash(name, stixName),
    example: 'a1'.repeat(digits / 2),
    normalize: hexDigits(digits),
    isRecognized: true,
    digestDigits: digits,
    csv: {
      column: new RegExp(
        `^(?:file_|hash_|sample_|payload_|malware_)?${name.replace('sha', 'sha_?')}(?:_hash(?:es)?|s)?$`,
      ),
      word: new RegExp(`^(?:file)?(?:hash)?${name}(?:hash|sum|file)?s?$`),
    },
  }) as const satisfies IndicatorTypeDescriptor;

const hexDigits = (digits: number) => matching(new RegExp(`^[0-9a-f]{${digits}}$`), toLower);

export const fileTypes = defineTypes({
  sha512: digest('sha512', 128, 'SHA-512'),
  sha256: digest('sha256', 64, 'SHA-256'),
  sha1: digest('sha1', 40, 'SHA-1'),
  md5: digest('md5', 32, 'MD5'),
  imphash: {
    ...hash('imphash', 'IMPHASH'),
    example: 'b2'.repeat(16),
    normalize: hexDigits(32),
    stix: stixProperty('file', ['hashes', 'IMPHASH'], { hasObservable: never }),
  },
  ssdeep: {
    ...hash('ssdeep', 'SSDEEP'),
    example: '48:AbCdEf0123:GhIjKl456',
    normalize: matching(/^\d+:[A-Za-z0-9+/]*:[A-Za-z0-9+/]*(?:,.*)?$/),
  },
  file_name: {
    ...plainType,
    bucket: 'files',
    logField: 'file',
    example: 'evil.exe',
    normalize: toNfc,
    proseScore: 0.4,
    csv: {
      column: /^(?:original_|sample_|malware_|dropped_)?file_?names?$/,
      word: /^filenames?$/,
    },
    stix: stixProperty('file', ['name'], { readFrom: ['email-message:body_multipart.body_raw_ref.name'] }),
    misp: mispAttribute('Payload delivery', 'filename', { readFrom: ['filename', 'email-attachment'] }),
  },
  file_path: {
    ...plainType,
    bucket: 'files',
    example: 'C:\\Temp\\evil.exe',
    normalize: toNfc,
    proseScore: 0.4,
    csv: {
      column: /^(?:full_|install_|dropped_)?file_?(?:paths?|locations?)$|^full_path$/,
      word: /^(?:(?:full|file)?paths?|filelocation)$/,
    },
    // A pattern has the name and the directory, if the path has both.
    stix: stixProperty('directory', ['path'], {
      hasObservable: never,
      readFrom: ['file:path', 'file:parent_directory_ref.path'],
    }),
    misp: {
      ...mispAttribute('Payload delivery', 'filename', { readFrom: [], relations: ['file path', 'file fullpath'] }),
      isNoted: true,
    },
  },
});
