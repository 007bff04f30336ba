import { useMutation, useQuery } from '@tanstack/react-query';
import { createKey, rolesQuery, type Role, type Scope } from '../../../api/access.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as people } from '../../../texts/people.ts';
import { scopes, scopeTexts } from '../../../texts/scopes.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { CheckField, findFieldError, FormError, SelectField, TextField } from '../../../ui/forms/field.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = all.keys;
const dayMs = 86_400_000;
type Preset = Role | keyof typeof texts.presets;
const presets = Object.entries({ ...people.roles, ...texts.presets }).map(([value, label]) => ({ value, label }));
const expiries = Object.entries(texts.expiries)
  .toSorted(([a], [b]) => (a === 'never' ? -1 : b === 'never' ? 1 : Number(a) - Number(b)))
  .map(([value, label]) => ({ value, label }));

type Props = {
  /** The scopes of the caller, who can grant no other. */
  granted: readonly string[];
  onClose: () => void;
  onCreated: (created: Awaited<ReturnType<typeof createKey>>) => void;
};

/** Creates a key with a name, permissions and an expiry. */
export default function KeyForm({ granted, onClose, onCreated }: Props) {
  const [{ name, preset, custom, expiry }, setValues, draft] = useDraft('key', {
    name: '',
    preset: 'analyst' as Preset,
    custom: [] as readonly Scope[],
    expiry: 'never',
  });
  const { data: roles = [] } = useQuery(rolesQuery);
  const { mutate, error, isPending } = useMutation({
    mutationFn: createKey,
    onSuccess: (created) => {
      draft.reset();
      onCreated(created);
    },
  });
  const scopesOf = (name: Preset): readonly Scope[] => {
    if (name === 'custom') return custom;
    if (name === 'shipper') return ['logs:write'];
    return roles.find(({ role }) => role === name)?.scopes ?? [];
  };
  const chosen = scopesOf(preset);
  const granting = chosen.filter((scope) => granted.includes(scope));
  const toggle = (scope: Scope): void => {
    setValues({
      preset: 'custom',
      custom: chosen.includes(scope) ? chosen.filter((one) => one !== scope) : [...chosen, scope],
    });
  };
  return (
    <Dialog title={texts.create} isWide onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          const expiresAt = expiry === 'never' ? null : new Date(Date.now() + Number(expiry) * dayMs).toISOString();
          mutate({ name: name.trim(), scopes: granting, expiresAt });
        }}
      >
        <div className="grid gap-4 md:grid-cols-[1fr_10rem]">
          <TextField
            label={texts.name}
            hint={texts.nameHint}
            error={findFieldError(error, '/name')}
            value={name}
            required
            autoFocus
            onChange={(event) => setValues({ name: event.target.value })}
          />
          <SelectField
            label={texts.expiry}
            options={expiries}
            value={expiry}
            onChange={(event) => setValues({ expiry: event.target.value })}
          />
        </div>
        <SelectField
          label={texts.preset}
          options={presets}
          value={preset}
          onChange={(event) => setValues({ custom: chosen, preset: event.target.value as Preset })}
        />
        <fieldset className="grid gap-x-6 gap-y-2 md:grid-cols-2">
          <legend className="sr-only">{texts.preset}</legend>
          {scopes.map((scope) => {
            const isGranted = granted.includes(scope);
            return (
              <CheckField
                key={scope}
                label={scopeTexts[scope]}
                hint={isGranted ? <span className="font-mono">{scope}</span> : texts.notYours}
                checked={isGranted && chosen.includes(scope)}
                disabled={!isGranted}
                onChange={() => toggle(scope)}
              />
            );
          })}
        </fieldset>
        <FormError error={error} shown={['/name']} />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" disabled={isPending || granting.length === 0}>
            {texts.create}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
