import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { profileQuery, putProfile, type Profile } from '../../../api/relevance.ts';
import { sessionQuery } from '../../../api/session.ts';
import { texts } from '../../../texts/relevance.ts';
import { Button } from '../../../ui/button.tsx';
import { CheckField, FormError, TextArea, TextField } from '../../../ui/forms/field.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { SettingsSection } from '../section.tsx';
import { PlatformChecks } from './platform-checks.tsx';
import { fromDraft, toDraft } from './profile-draft.ts';
import { Requirements } from './requirements.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

/** The settings that decide what is relevant to the organization. */
export function RelevanceSection() {
  const query = useQuery(profileQuery);
  const { data: session } = useQuery(sessionQuery);
  const mayChange = session?.scopes.includes('feed:write') ?? false;
  return (
    <>
      <SettingsSection title={texts.title} description={texts.description}>
        <Loaded query={query}>
          {(profile) => (
            <>
              {profile.rebuilding && (
                <p role="status" className="text-muted">
                  {texts.rebuilding}
                </p>
              )}
              {session && <ProfileForm key={profile.version} profile={profile} mayChange={mayChange} />}
            </>
          )}
        </Loaded>
      </SettingsSection>
      {query.data && <Requirements profile={query.data} mayChange={mayChange} />}
    </>
  );
}

type Props = { profile: Profile; mayChange: boolean };

/** The relevance profile as a form. */
function ProfileForm({ profile, mayChange }: Props) {
  const client = useQueryClient();
  const [draft, setDraft, kept] = useDraft('relevance profile', toDraft(profile));
  /** The profile that the draft is based on, which may be older than `profile`. */
  const [seen, setSeen] = useState(profile);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => putProfile(seen, fromDraft(draft)),
    onSuccess: (changed) => {
      kept.forget();
      setSeen(changed);
      client.setQueryData(profileQuery.queryKey, changed);
      toasts.add({ title: texts.saved });
      return client.invalidateQueries({ queryKey: ['feed'] });
    },
  });
  const words = (name: 'sectors' | 'regions' | 'keywords') => (
    <TextField
      label={texts[name]}
      hint={texts[`${name}Hint`]}
      value={draft[name]}
      onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
    />
  );
  return (
    <form
      className="max-w-[36rem]"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <fieldset disabled={!mayChange} className="flex min-w-0 flex-col gap-4">
        <TextArea
          label={texts.products}
          hint={texts.productsHint}
          placeholder={texts.productsExample}
          value={draft.products}
          onChange={({ target }) => setDraft({ ...draft, products: target.value })}
        />
        <PlatformChecks chosen={draft.platforms} onChange={(platforms) => setDraft({ ...draft, platforms })} />
        {words('sectors')}
        {words('regions')}
        {words('keywords')}
        <TextField
          label={texts.threshold}
          hint={texts.thresholdHint}
          type="number"
          step={1}
          required
          className="tabular"
          value={Number.isNaN(draft.threshold) ? '' : draft.threshold}
          onChange={({ target }) => setDraft({ ...draft, threshold: target.valueAsNumber })}
        />
        <TextField
          label={texts.timeZone}
          hint={texts.timeZoneHint}
          required
          value={draft.timeZone}
          onChange={({ target }) => setDraft({ ...draft, timeZone: target.value })}
        />
        <CheckField
          label={texts.sweep}
          hint={texts.sweepHint}
          checked={draft.sweep}
          onChange={({ target }) => setDraft({ ...draft, sweep: target.checked })}
        />
      </fieldset>
      <FormError error={error} />
      <RestoredDraft draft={kept} />
      {mayChange ? (
        <Button kind="primary" type="submit" disabled={isPending} className="mt-4">
          {texts.save}
        </Button>
      ) : (
        <p className="mt-4 text-12 text-muted">{texts.readOnly}</p>
      )}
    </form>
  );
}
