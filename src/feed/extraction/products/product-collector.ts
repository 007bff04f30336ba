import type { Platform } from '../../model/platforms.ts';
import type { AffectedProduct } from '../../model/item.schema.ts';
import { roundConfidence } from '../../model/source-record.ts';
import { findProductPlatforms } from './product-platforms.ts';

const productsMax = 500;
const versionsMax = 200;
const nameMaxChars = 300;

/** Collects the products of a structured source: one entry per vendor and product with all versions, within limits. */
export function createProductCollector(reliability: number): {
  add: (vendor: string, product: string, versions: string[]) => void;
  products: () => AffectedProduct[];
  platforms: () => Platform[];
} {
  const found = new Map<string, AffectedProduct & { all: Set<string> }>();
  const platforms = new Set<Platform>();
  return {
    add(vendor, product, versions) {
      const names = [clean(vendor), clean(product)] as const;
      const key = names.join('\n').toLowerCase();
      if (names[1] === '' || (!found.has(key) && found.size >= productsMax)) return;
      const known = found.get(key) ?? {
        vendor: names[0],
        product: names[1],
        versions: [],
        confidence: roundConfidence(reliability),
        all: new Set<string>(),
      };
      for (const version of versions.map(clean)) if (version && known.all.size < versionsMax) known.all.add(version);
      found.set(key, known);
      for (const platform of findProductPlatforms(...names)) platforms.add(platform);
    },
    products: () => [...found.values()].map(({ all, ...product }) => ({ ...product, versions: [...all] })),
    platforms: () => [...platforms],
  };
}

/** Sources write `n/a` for a vendor or product that they do not state. */
const clean = (name: string): string => {
  const text = name.trim();
  return /^(?:n\/a|unspecified)$/i.test(text) ? '' : text.slice(0, nameMaxChars).toWellFormed();
};
