import { texts } from '../../texts/sources.ts';
import { SelectField, TextField } from '../../ui/forms/field.tsx';
import type { Access, SourceDraft } from './source-draft.ts';

type Props = { draft: SourceDraft; isStored: boolean; onChange: (change: Partial<SourceDraft>) => void };

const userLabels = { basic: texts.user, header: texts.header };
const secretLabels = { basic: texts.password, header: texts.value, bearer: texts.token };

/** How the service signs in to a source. A stored credential is never shown; it can be kept, replaced or removed. */
export function AccessFields({ draft: { access, user, secret }, isStored, onChange }: Props) {
  const choices = (Object.keys(texts.accesses) as Access[]).filter((value) => value !== 'keep' || isStored);
  const hasUser = access === 'basic' || access === 'header';
  return (
    <div className="grid gap-3 md:grid-cols-2 md:[&>:only-child]:col-span-2">
      <SelectField
        label={texts.access}
        options={choices.map((value) => ({ value, label: texts.accesses[value] }))}
        value={access}
        onChange={(event) => onChange({ access: event.target.value as Access, user: '', secret: '' })}
      />
      {hasUser && (
        <TextField
          label={userLabels[access]}
          required
          value={user}
          onChange={(event) => onChange({ user: event.target.value })}
        />
      )}
      {access !== 'keep' && access !== 'none' && (
        <TextField
          label={secretLabels[access]}
          type="password"
          autoComplete="new-password"
          required
          value={secret}
          onChange={(event) => onChange({ secret: event.target.value })}
        />
      )}
    </div>
  );
}
