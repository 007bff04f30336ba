import type { Platform } from '../platforms.ts';
import type { Bucket } from '../vocabulary.ts';

/** Everything that any part of the feed needs to know of a type of indicators. */
export type IndicatorTypeDescriptor = {
  /** The list of `iocs` that contains the indicators. */
  bucket: Bucket;
  /** How long an indicator is active after it was last seen, unless its source states an end. */
  ttlDays: number;
  /** A value in canonical form, for tests. */
  example: string;
  /** Returns the canonical form of a value, which may be defanged, or undefined if it is not valid. */
  normalize: (text: string) => string | undefined;
  /** Whether every valid value has this type, whatever a source states. Other types, such as file names, accept almost any text. */
  isRecognized: boolean;
  /** The number of digits by which a hash is recognized. */
  digestDigits: number | null;
  /** The kind of log fields that contain such values, in which sweeps search for them. */
  logField: LogField | null;
  /** The platform of items with such an indicator. */
  platform: Platform | null;
  /** The confidence of a value in prose before its context counts. */
  proseScore: number;
  csv: CsvNames;
  stix: StixProperty;
  misp: MispAttribute;
};

export type LogField = 'address' | 'domain' | 'hash' | 'url' | 'file';

/** How lists of values call the type: `column` matches normalized names of columns, `word` the letters and digits of a cell that states the type. */
type CsvNames = { column: RegExp | null; word: RegExp | null };

type StixProperty = {
  /** The type of the object and the path of the property that patterns compare and that an observable has. */
  object: string;
  path: [property: string, key?: string];
  /** Whether a value has an observable whose standard id follows from it. */
  hasObservable: (value: string) => boolean;
  /** Further paths in which sources have such values, steps joined by dots. */
  readFrom: string[];
};

type MispAttribute = {
  type: string;
  category: string;
  /** Whether MISP has a more general type, so that the attribute names this one in its comment. */
  isNoted: boolean;
  /** The object that the attribute is in, if no type of attributes describes the value. */
  object: MispObject | null;
  /** Types of attributes, and relations of attributes in objects, from which such values are read. */
  readFrom: string[];
  relations: string[];
};

/** An object of MISP with the relation of the value in it and the object's template. */
export type MispObject = { name: string; relation: string; group: string; template: string; version: string };

/** Returns types by name, each complete. */
export const defineTypes = <Name extends string>(
  types: Record<Name, IndicatorTypeDescriptor>,
): Record<Name, IndicatorTypeDescriptor> => types;

/** Returns a property of an object of the standard. Unless stated otherwise, every value has an observable. */
export const stixProperty = (
  object: string,
  path: StixProperty['path'],
  more: Partial<Pick<StixProperty, 'hasObservable' | 'readFrom'>> = {},
): StixProperty => ({ object, path, hasObservable: () => true, readFrom: [], ...more });

export const never = (): boolean => false;

/** Types that the standard has no object for use a custom one. */
export const customStix = (type: string): StixProperty => stixProperty('x-tocsin', [type], { hasObservable: never });

export const mispAttribute = (
  category: string,
  type: string,
  more: Partial<Omit<MispAttribute, 'type' | 'category'>> = {},
): MispAttribute => ({ type, category, isNoted: false, object: null, readFrom: [type], relations: [], ...more });

/** Types that no attribute of MISP describes are text with the name of the type. */
export const notedText = mispAttribute('Other', 'text', { isNoted: true, readFrom: [] });

export const noCsv: CsvNames = { column: null, word: null };

/** What types have in common that are neither addresses nor hashes. */
export const plainType = {
  ttlDays: 365,
  isRecognized: false,
  digestDigits: null,
  logField: null,
  platform: null,
  proseScore: 0.55,
  csv: noCsv,
} as const;
