import { inferFieldRole, type FieldRole } from './phrases/field-roles.ts';
import { findPlantedCue, type PlantedCue } from './phrases/planted-text.ts';
import type { Candidate, Facts, RenderedRow } from '../../analysis/candidate.ts';

/** A field of a row whose text is addressed to a model. `rowId` is null for the entity itself. */
export type PlantedField = { rowId: string | null; field: string; cue: PlantedCue };

/** `quotable` is the candidate without planted fields: what a verdict may cite and quote. Its entity is empty if it is planted itself. */
export type ScreenedCandidate = { planted: PlantedField[]; quotable: Candidate };

const plantedMax = 50;
const screened = new WeakMap<Candidate, ScreenedCandidate>();

/** Finds the text of a candidate that is addressed to a model. Pure, and cached per candidate because several checks need it. */
export function screenCandidate(candidate: Candidate): ScreenedCandidate {
  const known = screened.get(candidate);
  if (known) return known;
  const result = screen(candidate);
  screened.set(candidate, result);
  return result;
}

function screen(candidate: Candidate): ScreenedCandidate {
  const findCue = createCueFinder();
  const planted: PlantedField[] = [];
  const values = new Set<string>();
  const rows = candidate.rows.map((row): RenderedRow => {
    const verdicts = findVerdictObjects(row);
    const fields = Object.entries(row.fields).filter(([field, value]) => {
      const cue =
        findCue(value, findRole(field, value)) ??
        findCue(field, 'label') ??
        (verdicts.has(parentOf(field)) ? 'verdict' : undefined);
      if (cue === undefined) return true;
      planted.push({ rowId: row.rowId, field, cue });
      values.add(value).add(field);
      return false;
    });
    return { ...row, fields: Object.fromEntries(fields) };
  });
  const entityCue = screenEntity(candidate, values, findCue);
  if (entityCue !== undefined) planted.push({ rowId: null, field: 'entity', cue: entityCue });
  if (planted.length === 0) return { planted, quotable: candidate };
  const entity = entityCue === undefined ? candidate.entity : '';
  const quotable = { ...candidate, entity, rows, facts: screenFacts(candidate.facts, [...values]) };
  return { planted: planted.slice(0, plantedMax), quotable };
}

/** A list of objects is JSON text, which may contain prose in any field. */
const findRole = (field: string, value: string): FieldRole => (/^\[?\{"/.test(value) ? 'prose' : inferFieldRole(field));

const parentOf = (field: string): string => field.slice(0, Math.max(0, field.lastIndexOf('.')));

/** Returns the nested objects that have the form of a verdict (`{"triggered": false, "severity": "none"}`). */
function findVerdictObjects({ fields }: RenderedRow): Set<string> {
  const names = new Set(Object.keys(fields).map((field) => field.toLowerCase()));
  const parents = [...names].filter((name) => name.endsWith('.triggered')).map(parentOf);
  const others = ['severity', 'confidence', 'headline', 'nextstep', 'verdict'];
  const found = new Set(parents.filter((parent) => others.some((other) => names.has(`${parent}.${other}`))));
  return new Set(
    Object.keys(fields)
      .map(parentOf)
      .filter((parent) => found.has(parent.toLowerCase())),
  );
}

type CueFinder = (text: string, role: FieldRole) => PlantedCue | undefined;

/** Rows repeat their values, so each value is judged once. */
function createCueFinder(): CueFinder {
  const found = new Map<string, PlantedCue | undefined>();
  return (text, role) => {
    const key = `${role} ${text}`;
    if (!found.has(key)) found.set(key, findPlantedCue(text, role));
    return found.get(key);
  };
}

/** The field of the entity decides if a row shows it. An entity of another source is a name. */
function screenEntity({ entity, rows }: Candidate, planted: ReadonlySet<string>, findCue: CueFinder) {
  if (isStartOfAny(entity, planted)) return 'sentence';
  const isInRow = rows.some(({ fields }) => Object.values(fields).includes(entity));
  return isInRow ? undefined : findCue(entity, 'label');
}

/** Returns whether an entity is one of the values or the start of one: a long name is cut, with a hash at its end. */
export function isStartOfAny(entity: string, values: ReadonlySet<string>): boolean {
  const start = entity.replace(/…#[0-9a-f]+$/, '');
  if (start === entity) return values.has(entity);
  return [...values].some((value) => value.startsWith(start));
}

const factTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const shortMax = 8;

/** Drops the facts that repeat a planted value, such as new values of a first occurrence. Times stay, because the analysis writes them. */
export function screenFacts(facts: Facts, planted: readonly string[]): Facts {
  const isClean = (text: string): boolean =>
    factTime.test(text) ||
    (!planted.some((value) => repeatsValue(text, value)) && findPlantedCue(text, 'prose') === undefined);
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]): [string, Facts[string]][] => {
      if (typeof fact === 'string') return isClean(fact) ? [[name, fact]] : [];
      if (!Array.isArray(fact) || fact.every((item) => typeof item === 'number')) return [[name, fact]];
      return [[name, fact.map(String).filter(isClean)]];
    }),
  );
}

/** Returns whether a text repeats a value. A short value, such as `0`, is only repeated where it stands alone. */
function repeatsValue(text: string, value: string): boolean {
  if (value.length > shortMax) return text.includes(value);
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const around = `${text.charAt(at - 1)}${text.charAt(at + value.length)}`;
    if (!/[\p{L}\p{N}]/u.test(around)) return true;
  }
  return false;
}
