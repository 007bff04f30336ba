import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { requirementCountQuery } from '../../../api/feed.ts';
import { profileQuery, putProfile, type Profile } from '../../../api/relevance.ts';
import { platformName } from '../../../texts/platforms.ts';
import { texts } from '../../../texts/relevance.ts';
import { Button } from '../../../ui/button.tsx';
import { Row, Rows } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { fromDraft, fromRequirementDraft, toDraft, type Requirement, type RequirementDraft } from './profile-draft.ts';

const RequirementForm = lazy(() => import('./requirement-form.tsx'));
const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

/** What is open: a new requirement, a changed one, or the question whether to delete one. */
type Opened = { kind: 'form'; requirement: Requirement | undefined } | { kind: 'delete'; requirement: Requirement };

type Props = { profile: Profile; mayChange: boolean };

/** The requirements of the organization, each with the number of items that meet it. They are part of the profile. */
export function Requirements({ profile, mayChange }: Props) {
  const client = useQueryClient();
  const [opened, setOpened] = useState<Opened>();
  const { requirements } = profile;
  const save = async (changed: (Requirement | ReturnType<typeof fromRequirementDraft>)[]): Promise<void> => {
    const stored = await putProfile(profile, { ...fromDraft(toDraft(profile)), requirements: changed });
    client.setQueryData(profileQuery.queryKey, stored);
    await client.invalidateQueries({ queryKey: ['feed'] });
  };
  const others = (one: Requirement | undefined) => requirements.filter((other) => other !== one);
  const saveDraft = (draft: RequirementDraft): Promise<void> =>
    save([...others(opened?.requirement), fromRequirementDraft(draft)]);
  return (
    <SettingsSection
      title={texts.requirement.title}
      description={texts.requirement.description}
      action={
        mayChange && (
          <Button onClick={() => setOpened({ kind: 'form', requirement: undefined })}>{texts.requirement.add}</Button>
        )
      }
    >
      {requirements.length === 0 ? (
        <p className="text-muted">{texts.requirement.none}</p>
      ) : (
        <Rows label={texts.requirement.title}>
          {requirements.map((requirement) => (
            <Row
              key={requirement.name}
              title={
                <Link to="/feed" search={{ requirement: requirement.name }} className="hover:underline">
                  {requirement.name}
                </Link>
              }
              badge={<ItemCount name={requirement.name} version={profile.rebuilding ? undefined : profile.version} />}
              detail={describe(requirement)}
              actions={
                mayChange && (
                  <>
                    <Button onClick={() => setOpened({ kind: 'form', requirement })}>{texts.requirement.change}</Button>
                    <Button onClick={() => setOpened({ kind: 'delete', requirement })}>
                      {texts.requirement.delete}
                    </Button>
                  </>
                )
              }
            />
          ))}
        </Rows>
      )}
      <Suspense>
        {opened?.kind === 'form' && (
          <RequirementForm requirement={opened.requirement} onSave={saveDraft} onClose={() => setOpened(undefined)} />
        )}
        {opened?.kind === 'delete' && (
          <ConfirmDialog
            title={texts.requirement.deleteTitle}
            action={texts.requirement.delete}
            onConfirm={() => save(others(opened.requirement))}
            onClose={() => setOpened(undefined)}
          >
            {opened.requirement.name}
          </ConfirmDialog>
        )}
      </Suspense>
    </SettingsSection>
  );
}

/** The number of items that meet a requirement. Nothing while they are judged again. */
function ItemCount({ name, version }: { name: string; version: number | undefined }) {
  const { data } = useQuery({ ...requirementCountQuery(name, version ?? 0), enabled: version !== undefined });
  return data && <span className="tabular text-12 text-muted">{texts.requirement.items(data.total)}</span>;
}

const describe = ({ products, platforms, name: _name, ...lists }: Requirement): string =>
  [
    ...Object.values(lists),
    products.map(({ vendor, product }) => (product ? `${vendor} ${product}` : vendor)),
    platforms.map(platformName),
  ]
    .filter((list) => list.length > 0)
    .map((list) => list.join(', '))
    .join(' · ');
