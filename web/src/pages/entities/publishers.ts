import type { EntityDetail } from '../../api/entities.ts';

const namedMax = 3;

/** Returns who published items, such as `Acme CERT, Northmere`. Items that are not among the latest ones are left out. */
export function listPublishers({ latestItems }: Pick<EntityDetail, 'latestItems'>, ids: readonly string[]): string {
  const names = [...new Set(latestItems.filter(({ id }) => ids.includes(id)).map(({ publisher }) => publisher))];
  const rest = names.length - namedMax;
  return [...names.slice(0, namedMax), ...(rest > 0 ? [`+${rest}`] : [])].join(', ');
}
