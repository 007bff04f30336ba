import { diffFields, type FieldChange, type FileFields } from '../as-code/file-fields.ts';
import { mergeVersions } from '../library/update-library.ts';
import type { PackInstall } from './pack-installs.store.ts';
import type { PackDetection } from './packs.schema.ts';

/** A detection of a pack in an organization. `current` is undefined if the organization deleted the detection. */
export type InstalledDetection = { install: PackInstall; current: FileFields | undefined };

/** How a detection differs from its pack, and what applying the pack does with it. */
export type PackStep = {
  state: PackDetection['state'];
  action: 'none' | 'create' | 'update' | 'delete' | 'forget';
  changes: FieldChange[];
  kept: FieldChange[];
  detail: string | null;
};

type Options = { force: boolean; prune: boolean };

/**
 * Compares a detection of an organization with the pack, three ways: what was applied last, what the pack has (`target`, undefined if it
 * no longer has the file), and what the organization has now. What the organization changed stays, unless `force` is set.
 */
export function comparePack(
  target: FileFields | undefined,
  installed: InstalledDetection | undefined,
  options: Options,
): PackStep {
  if (!installed) return step('missing', 'create');
  const { install, current } = installed;
  if (!target) return compareExtra(install, current, options);
  if (!current) {
    const detail = 'The organization deleted it. --force creates it again.';
    return options.force ? step('deleted', 'create') : { ...step('deleted', 'none'), detail };
  }
  const edited = new Set(diffFields(install.fields, current).map(({ field }) => field));
  const own = diffFields(target, current).filter(({ field }) => edited.has(field));
  const changes = options.force ? diffFields(current, target) : mergeVersions(install.fields, target, current).changes;
  const isOutdated = diffFields(install.fields, target).length > 0;
  const state = own.length > 0 ? 'changed' : isOutdated ? 'outdated' : 'unchanged';
  return {
    state,
    action: changes.length > 0 || isOutdated ? 'update' : 'none',
    changes,
    kept: options.force ? [] : own,
    detail: null,
  };
}

function compareExtra(install: PackInstall, current: FileFields | undefined, { force, prune }: Options): PackStep {
  if (!current) return step('extra', prune ? 'forget' : 'none');
  if (!prune) return { ...step('extra', 'none'), detail: 'The pack no longer has it. --prune deletes it.' };
  const kept = diffFields(install.fields, current);
  if (kept.length === 0 || force) return step('extra', 'delete');
  return { ...step('extra', 'none'), kept, detail: 'The organization changed it. --force deletes it.' };
}

const step = (state: PackStep['state'], action: PackStep['action']): PackStep => ({
  state,
  action,
  changes: [],
  kept: [],
  detail: null,
});
