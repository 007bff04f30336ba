import type { Scope } from '../api/access.ts';

/** The permissions of each scope. */
export const scopeTexts: Record<Scope, string> = {
  'hits:read': 'See hits and their evidence',
  'hits:write': 'Judge hits and write notes',
  'detections:read': 'See detections, runs and datasets',
  'detections:write': 'Create and change detections',
  'detections:run': 'Run, preview and search logs',
  'feed:read': 'Read the feed',
  'feed:write': 'Add sources and items',
  'logs:write': 'Send logs',
  'connections:admin': 'Connections, destinations and MCP servers',
  'keys:admin': 'People, keys and sessions',
  'audit:read': 'Read the audit log',
  'privacy:admin': 'Erase values',
  'feed:admin': 'Share feed sources with other organizations',
};

export const scopes = Object.keys(scopeTexts) as Scope[];
