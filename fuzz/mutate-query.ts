import { oddNames, plainNames, strayTokens, trapNames } from './query-names.ts';
import type { Random } from './random.ts';

const readTokens = (sql: string): string[] => sql.match(/"[^"]*"|'[^']*'|[\p{L}\p{N}_$]+|\s+|[^\s]/gu) ?? [];

/** Returns a function that changes a statement in one to three places, most often a name (keywords are in upper case). */
export function createMutator(random: Random, folder: string): (sql: string) => string {
  const { int, pick } = random;
  const names = [...plainNames, ...plainNames, ...oddNames, ...trapNames(folder)];
  return (sql) => {
    const list = readTokens(sql);
    const words = (): number[] => [...list.keys()].filter((index) => /^(?:["\p{Ll}]|Auth)/u.test(list[index]!));
    for (let n = int(3); n >= 0; n -= 1) {
      const at = words().length > 0 ? pick(words()) : 0;
      const other = int(list.length);
      const roll = int(100);
      if (roll < 60) list[at] = pick(names);
      else if (roll < 76) list.splice(at, 0, pick(strayTokens), ' ');
      else if (roll < 86) list.splice(at, 2);
      else if (roll < 93) list.splice(at, 0, ...list.slice(other, other + 2 + int(8)), ' ');
      else [list[at], list[other]] = [list[other] ?? '', list[at] ?? ''];
    }
    return list.join('');
  };
}
