import { oddNames, plainNames, trapNames } from './query-names.ts';
import type { Random } from './random.ts';

type Grammar = { statement: () => string };

/**
 * Creates a generator of SELECT statements: valid in most cases, with names that mean something else in another scope. With `columns`, they
 * use these and nothing that is always refused, and they end.
 */
export function createGrammar(random: Random, folder: string, columns?: readonly string[]): Grammar {
  const { pick, chance, many } = random;
  const traps = trapNames(folder);
  const isIdentifier = (name: string): boolean => /^(?:"[^"]*"|\w+)$/.test(name);
  const cteNames = [...oddNames, ...traps.filter(isIdentifier)];
  const isHostile = (probability: number): boolean => columns === undefined && chance(probability);
  let budget = 0;
  const isSmall = (): boolean => (budget -= 1) < 0;

  const name = (): string => (isHostile(0.03) ? pick(chance(0.5) ? traps : oddNames) : pick(plainNames));
  const column = (): string =>
    pick(
      columns ?? [
        'x',
        'x',
        'x',
        'y',
        'l',
        's',
        '_event',
        's.k',
        ...(chance(0.2) ? ['a.x', 'auth.y', 'auth', '"Y"', 'b'] : []),
      ],
    );

  function expression(): string {
    if (isSmall()) return pick([column(), column(), '1', "'t'", 'NULL', '$window_start', '[1, 2]', '{k: 1}']);
    const e = expression;
    switch (random.int(24)) {
      case 0: return scalar();
      case 1: return `EXISTS (${query()})`;
      case 2: return `x IN (${oneColumn()})`;
      case 3: return `x ${pick(['=', '<', '+', 'IS DISTINCT FROM'])} ${scalar()}`;
      case 4: return `${pick(['typeof', 'to_json', 'hash', 'json', 'coalesce'])}(${e()})`;
      case 5: return pick([`list_transform([1], v -> ${e()})`, `list_transform([{k: ${e()}}], lambda s: s.k)`]);
      case 6: return `[${e()} FOR v IN l IF ${scalar()} = 1]`;
      case 7: return `CASE WHEN x = 1 THEN ${e()} ELSE NULL END`;
      case 8: return `row_number() OVER (PARTITION BY ${e()} ORDER BY ${scalar()})`;
      case 9: return `TRY_CAST(${e()} AS ${pick(['INTEGER', 'VARCHAR', 'JSON', 'INTEGER[]', 'STRUCT(k INTEGER)'])})`;
      case 10: return `${scalar()} BETWEEN x AND ${scalar()}`;
      case 11: return `x = ANY(${oneColumn()})`;
      case 12: return `ARRAY(${oneColumn()})`;
      case 13: return isHostile(0.1) ? pick(["getenv('HOME')", "current_setting('threads')", 'current_user', 'system.main.upper(y)']) : column();
      case 14: return `{'k': ${e()}, 'm': ${scalar()}}`;
      case 15: return `CASE ${column()} WHEN ${e()} THEN ${e()} WHEN 't' THEN ${scalar()} ELSE ${column()} END`;
      case 16: return `${pick(['sum(y)', 'count(x)', 'first_value(x)', 'last_value(x IGNORE NULLS)'])} OVER (ORDER BY ${column()} ${frame()})`;
      case 17: return `${column()} COLLATE ${pick(['nocase', 'noaccent'])}`;
      case 18: return `${pick(['list(DISTINCT x ORDER BY y DESC NULLS LAST)', 'mode() WITHIN GROUP (ORDER BY x)', 'GROUPING(x)', ...(isHostile(1) ? ['sum(x) EXPORT_STATE'] : [])])}`;
      default: return column();
    }
  } // prettier-ignore

  const frame = (): string =>
    `${pick(['ROWS', 'RANGE', 'GROUPS'])} BETWEEN UNBOUNDED PRECEDING AND ${pick(['CURRENT ROW', 'UNBOUNDED FOLLOWING'])}${pick(['', ' EXCLUDE TIES', ' EXCLUDE CURRENT ROW', ' EXCLUDE GROUP'])}`;

  const scalar = (): string =>
    `(SELECT ${pick(['max(x)', 'count(*)', 'min(x) FILTER (WHERE x = 1)'])} FROM ${table()})`;
  const share = (): string => pick(['10%', '50 PERCENT', '3', '2 ROWS']);
  const sample = (): string =>
    pick([
      `${pick(['bernoulli', 'system', 'reservoir'])}(${share()})`,
      share(),
      '30% (bernoulli, 7)',
      'reservoir(1 ROWS) REPEATABLE (3)',
    ]);
  /** What follows a table and changes which of its rows are read. */
  const change = (): string =>
    pick([` TABLESAMPLE ${sample()}`, ' AT (VERSION => 1)', " AT (TIMESTAMP => TIMESTAMP '2024-01-01')"]);
  const alias = (): string => (chance(0.3) ? ` AS ${pick(plainNames)}${chance(0.2) ? '(x, y)' : ''}` : '');

  function table(): string {
    if (isSmall()) return name() + alias() + (isHostile(0.03) ? change() : '');
    switch (random.int(24)) {
      case 0: case 1: return `(${query()})${alias()}`;
      case 2: return `auth AS t, LATERAL (${query()})${alias()}`;
      case 3: return `${table()} ${pick(['LEFT JOIN', 'SEMI JOIN', 'ANTI JOIN', 'JOIN'])} ${table()} ON ${expression()} IS NULL`;
      case 4: return `${table()} ${pick(['NATURAL JOIN', 'SEMI JOIN', 'ANTI JOIN', 'JOIN'])} ${table()}`.replace(/((?:SEMI|ANTI) JOIN|^JOIN| JOIN) (.*)$/s, '$1 $2 USING (x)');
      case 5: return `${name()}, ${table()}`;
      case 6: return `(VALUES (${scalar()}, 'v')) ${pick(plainNames)}(x, y)`;
      case 7: return `unnest([${scalar()}]) u(x)`;
      case 8: return `range(${pick(['3', scalar()])}) r(x)`;
      case 9: return isHostile(0.1) ? pick(['(DESCRIBE auth)', '(PIVOT auth ON y USING count(*))', '(TABLE auth)', '(SHOW TABLES)']) : name();
      case 10: return `(${query()})${alias()}${isHostile(1) ? change() : ''}`;
      case 11: return `${name()} ${pick(['CROSS JOIN', isHostile(0.3) ? 'POSITIONAL JOIN' : 'CROSS JOIN'])} ${table()}`;
      case 12: return `${name()} AS t ASOF ${pick(['JOIN', 'LEFT JOIN'])} ${name()} AS u ON t.x ${pick(['>=', '<'])} u.x`;
      case 13: return `unnest([1, 2]) WITH ORDINALITY AS u(x, y)`;
      default: return name() + alias();
    }
  } // prettier-ignore

  const where = (): string => (chance(0.3) ? ` WHERE ${expression()} IS NOT NULL` : '');

  const star = (): string =>
    pick([
      '* EXCLUDE (x)',
      "* REPLACE ('t' AS y)",
      '* RENAME (x AS z)',
      "* LIKE 'x%'",
      "COLUMNS('x|y')",
      'COLUMNS(v -> v = 1)',
    ]);

  /** The clauses after WHERE. */
  const tail = (): string =>
    pick([
      () => `ORDER BY ${scalar()}`,
      () => 'ORDER BY ALL',
      () => 'ORDER BY random()',
      () => `LIMIT ${scalar()}`,
      () => `QUALIFY ${scalar()} = 1`,
      () => 'LIMIT 1 OFFSET 1',
      () => 'ORDER BY x COLLATE nocase NULLS FIRST LIMIT 50%',
      () => `USING SAMPLE ${sample()}`,
      () => `GROUP BY ${pick(['ALL', 'GROUPING SETS ((x), ())', 'ROLLUP (x, y)', 'CUBE (x)'])} HAVING ${scalar()} = 1`,
    ])();

  function select(): string {
    const list = pick([
      () => (chance(0.3) ? star() : '*'),
      () => `${expression()} AS x`,
      () => `${expression()} AS x, ${expression()} AS y`,
    ])();
    if (chance(0.15)) return `FROM ${table()}${where()}`;
    const distinct = chance(0.1) ? pick(['DISTINCT ', 'DISTINCT ON (x) ']) : '';
    return `SELECT ${distinct}${list} FROM ${table()}${where()}${chance(0.2) ? ` ${tail()}` : ''}`;
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
    const isRecursive = isHostile(0.5);
    const own = many(1, 3, () => (isHostile(0.1) ? pick(cteNames) : pick(plainNames)));
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
