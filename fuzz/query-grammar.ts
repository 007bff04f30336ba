import { oddNames, plainNames, trapNames } from './query-names.ts';
import type { Random } from './random.ts';

type Grammar = { statement: () => string };

/** Creates a generator of SELECT statements: valid in most cases, with names that mean something else in another scope. */
export function createGrammar(random: Random, folder: string): Grammar {
  const { pick, chance, many } = random;
  const traps = trapNames(folder);
  const isIdentifier = (name: string): boolean => /^(?:"[^"]*"|\w+)$/.test(name);
  const cteNames = [...oddNames, ...traps.filter(isIdentifier)];
  let budget = 0;
  const isSmall = (): boolean => (budget -= 1) < 0;

  const name = (): string => (chance(0.03) ? pick(chance(0.5) ? traps : oddNames) : pick(plainNames));
  const column = (): string =>
    pick([
      'x',
      'x',
      'x',
      'y',
      'l',
      's',
      '_event',
      's.k',
      ...(chance(0.2) ? ['a.x', 'auth.y', 'auth', '"Y"', 'b'] : []),
    ]);

  function expression(): string {
    if (isSmall()) return pick([column(), column(), '1', "'t'", 'NULL', '$window_start', '[1, 2]', '{k: 1}']);
    const e = expression;
    switch (random.int(20)) {
      case 0: return scalar();
      case 1: return `EXISTS (${query()})`;
      case 2: return `x IN (${oneColumn()})`;
      case 3: return `x ${pick(['=', '<', '+', 'IS DISTINCT FROM'])} ${scalar()}`;
      case 4: return `${pick(['typeof', 'to_json', 'hash', 'json', 'coalesce'])}(${e()})`;
      case 5: return `list_transform([1], v -> ${e()})`;
      case 6: return `[${e()} FOR v IN l IF ${scalar()} = 1]`;
      case 7: return `CASE WHEN x = 1 THEN ${e()} ELSE NULL END`;
      case 8: return `row_number() OVER (PARTITION BY ${e()} ORDER BY ${scalar()})`;
      case 9: return `TRY_CAST(${e()} AS ${pick(['INTEGER', 'VARCHAR', 'JSON', 'INTEGER[]', 'STRUCT(k INTEGER)'])})`;
      case 10: return `${scalar()} BETWEEN x AND ${scalar()}`;
      case 11: return `x = ANY(${oneColumn()})`;
      case 12: return `ARRAY(${oneColumn()})`;
      case 13: return chance(0.1) ? pick(["getenv('HOME')", "current_setting('threads')", 'current_user', 'system.main.upper(y)']) : column();
      case 14: return `{'k': ${e()}, 'm': ${scalar()}}`;
      default: return column();
    }
  } // prettier-ignore

  const scalar = (): string =>
    `(SELECT ${pick(['max(x)', 'count(*)', 'min(x) FILTER (WHERE x = 1)'])} FROM ${table()})`;
  const alias = (): string => (chance(0.3) ? ` AS ${pick(plainNames)}${chance(0.2) ? '(x, y)' : ''}` : '');

  function table(): string {
    if (isSmall()) return name() + alias();
    switch (random.int(20)) {
      case 0: case 1: return `(${query()})${alias()}`;
      case 2: return `auth AS t, LATERAL (${query()})${alias()}`;
      case 3: return `${table()} ${pick(['LEFT JOIN', 'SEMI JOIN', 'ANTI JOIN', 'JOIN'])} ${table()} ON ${expression()} IS NULL`;
      case 4: return `${table()} ${pick(['NATURAL JOIN', 'SEMI JOIN', 'ANTI JOIN', 'JOIN'])} ${table()}`.replace(/((?:SEMI|ANTI) JOIN|^JOIN| JOIN) (.*)$/s, '$1 $2 USING (x)');
      case 5: return `${name()}, ${table()}`;
      case 6: return `(VALUES (${scalar()}, 'v')) ${pick(plainNames)}(x, y)`;
      case 7: return `unnest([${scalar()}]) u(x)`;
      case 8: return `range(${pick(['3', scalar()])}) r(x)`;
      case 9: return chance(0.1) ? pick(['(DESCRIBE auth)', '(PIVOT auth ON y USING count(*))', '(TABLE auth)', '(SHOW TABLES)']) : name();
      default: return name() + alias();
    }
  } // prettier-ignore

  const where = (): string => (chance(0.3) ? ` WHERE ${expression()} IS NOT NULL` : '');

  function select(): string {
    const list = pick([() => '*', () => `${expression()} AS x`, () => `${expression()} AS x, ${expression()} AS y`])();
    const tail = chance(0.15)
      ? ` ${pick([`ORDER BY ${scalar()}`, 'ORDER BY ALL', `LIMIT ${scalar()}`, `QUALIFY ${scalar()} = 1`, 'LIMIT 1'])}`
      : '';
    if (chance(0.15)) return `FROM ${table()}${where()}`;
    return `SELECT ${chance(0.1) ? 'DISTINCT ' : ''}${list} FROM ${table()}${where()}${tail}`;
  }

  function oneColumn(): string {
    if (isSmall() || chance(0.5)) return `SELECT x FROM ${table()}${where()}`;
    if (chance(0.4)) return withCtes(oneColumn);
    const side = (): string => (chance(0.5) ? `(${oneColumn()})` : `SELECT x FROM ${table()}`);
    return `${side()} ${pick(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT', 'UNION ALL BY NAME'])} ${side()}`;
  }

  function cte(own: string, isRecursive: boolean): string {
    const hint = pick(['', '', ' MATERIALIZED', ' NOT MATERIALIZED']);
    if (!isRecursive || chance(0.3))
      return `${own}${chance(0.2) ? '(x)' : ''} AS${hint} (${chance(0.5) ? oneColumn() : query()})`;
    const branch = (): string => (chance(0.6) ? `SELECT x FROM ${own}${where()}` : `(${oneColumn()})`);
    const key = chance(0.1) ? '(x) USING KEY (x)' : '';
    return `${own}${key} AS${hint} (${branch()} ${pick(['UNION ALL', 'UNION'])} ${branch()})`;
  }

  function withCtes(body: () => string): string {
    const isRecursive = chance(0.5);
    const own = many(1, 3, () => (chance(0.1) ? pick(cteNames) : pick(plainNames)));
    const distinct = own.filter((name, index) => own.findIndex((other) => fold(other) === fold(name)) === index);
    return `WITH ${isRecursive ? 'RECURSIVE ' : ''}${distinct.map((name) => cte(name, isRecursive)).join(', ')} ${body()}`;
  }

  function query(): string {
    if (isSmall() || chance(0.55)) return select();
    return chance(0.6) ? withCtes(query) : oneColumn();
  }

  return {
    statement: () => {
      budget = 3 + random.int(14);
      return query();
    },
  };
}

const fold = (name: string): string => name.replaceAll('"', '').toLowerCase();
