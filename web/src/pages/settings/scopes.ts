import type { Scope } from '../../api/access.ts';
import { scopeTexts } from '../../texts/scopes.ts';

export const scopes = Object.keys(scopeTexts) as Scope[];

const readers: Scope[] = ['hits:read', 'detections:read', 'feed:read'];
const analyst: Scope[] = [...readers, 'hits:write', 'detections:run'];

export type Preset = 'analyst' | 'engineer' | 'shipper' | 'administrator' | 'custom';

export const presetScopes: Record<Exclude<Preset, 'custom'>, readonly Scope[]> = {
  analyst,
  engineer: [...analyst, 'detections:write', 'feed:write'],
  shipper: ['logs:write'],
  administrator: scopes,
};
