import { useQuery, useQueryClient, useQueries } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import {
  deleteSkill,
  restoreSkill,
  skillArchiveUrl,
  skillQuery,
  skillVersionsQuery,
  type Skill,
} from '../../../api/skills.ts';
import { texts } from '../../../texts/skills.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { CodeBlock } from '../../../ui/code/code-block.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { Badge, Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { detectionQuery } from '../../../api/detections.ts';

const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));
const route = getRouteApi('/shell/settings/skills/$name');

/** One skill, by default its current version. */
export function SkillSection() {
  const { name } = route.useParams();
  const { version } = route.useSearch();
  const current = useQuery(skillQuery(name, undefined));
  const shown = useQuery(skillQuery(name, version === undefined ? undefined : Number(version)));
  return (
    <>
      <Link to="/settings/skills" className="-mb-4 flex w-fit items-center gap-1 text-muted hover:text-ink">
        <ChevronLeft className="size-3.5" aria-hidden />
        {texts.back}
      </Link>
      <Loaded query={shown}>
        {(skill) => (
          <Loaded query={current}>
            {(newest) => (
              <>
                <SkillText skill={skill} current={newest} />
                <SkillUsers ids={newest.usedBy} />
                <Versions current={newest} />
              </>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function SkillText({ skill, current }: { skill: Skill; current: Skill }) {
  const { name, description, license, compatibility, allowedTools, body, files } = skill;
  const facts = [
    [texts.license, license],
    [texts.compatibility, compatibility],
    [texts.allowedTools, allowedTools.join(', ')],
  ].filter(([, value]) => value);
  return (
    <SettingsSection title={name} description={description} action={<Actions skill={current} />}>
      {skill.version !== current.version && <OlderVersion skill={skill} current={current} />}
      {facts.length > 0 && (
        <p className="text-12 text-muted">{facts.map(([label, value]) => `${label}: ${value}`).join(' · ')}</p>
      )}
      <CodeBlock label={texts.instructions} text={body.trim()} isWrapped />
      {files.length > 0 && (
        <div className="flex flex-col gap-2">
          <h3 className="font-strong">{texts.files}</h3>
          <p className="text-12 text-muted">{texts.notExecuted}</p>
          {files.map(({ path, text }) => (
            <details key={path}>
              <summary className="font-mono text-12 break-all text-muted hover:text-ink">{path}</summary>
              <div className="mt-2">
                {text === undefined ? (
                  <p className="text-muted">{texts.binary}</p>
                ) : (
                  <CodeBlock label={path} text={text} isWrapped />
                )}
              </div>
            </details>
          ))}
        </div>
      )}
    </SettingsSection>
  );
}

function OlderVersion({ skill, current }: { skill: Skill; current: Skill }) {
  const { name, version } = skill;
  const navigate = route.useNavigate();
  const restore = useChange({
    change: () => restoreSkill(skill, current),
    refresh: [['skills']],
    done: () => {
      void navigate({ search: {} });
      return texts.restored;
    },
    failed: texts.notRestored,
  });
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-control border p-3">
      <p className="grow text-muted">{texts.older(version)}</p>
      <Link to="/settings/skills/$name" params={{ name }} className="text-accent underline underline-offset-2">
        {texts.showCurrent}
      </Link>
      <Button disabled={restore.isPending} onClick={() => restore.mutate(undefined)}>
        {texts.restore}
      </Button>
    </div>
  );
}

function Actions({ skill }: { skill: Skill }) {
  const { name, source, replacesShipped } = skill;
  const [isOpen, setIsOpen] = useState(false);
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const remove = async (): Promise<void> => {
    await deleteSkill(skill);
    toasts.add({ title: texts.removed(name) });
    if (replacesShipped) await navigate({ search: {} });
    else await navigate({ to: '/settings/skills' });
    await client.invalidateQueries({ queryKey: ['skills'] });
  };
  return (
    <div className="flex items-center gap-2">
      <ButtonLink href={skillArchiveUrl(name)} download={`${name}.zip`}>
        {texts.export}
      </ButtonLink>
      {source === 'organization' && (
        <Button kind="danger" onClick={() => setIsOpen(true)}>
          {replacesShipped ? texts.revert : texts.remove}
        </Button>
      )}
      <Suspense>
        {isOpen && (
          <ConfirmDialog
            title={texts.removeTitle(name)}
            action={replacesShipped ? texts.revert : texts.remove}
            onClose={() => setIsOpen(false)}
            onConfirm={remove}
          >
            {replacesShipped ? texts.revertBody : texts.removeBody}
          </ConfirmDialog>
        )}
      </Suspense>
    </div>
  );
}

type Version = { version: number; createdAt: string | null; author: string };

function Versions({ current }: { current: Skill }) {
  const { name } = current;
  const query = useQuery(skillVersionsQuery(name));
  const columns: TableColumn<Version>[] = [
    {
      header: texts.versionHeader,
      cell: ({ version }) => (
        <span className="flex items-center gap-2">
          <Link
            to="/settings/skills/$name"
            params={{ name }}
            search={{ version: String(version) }}
            className="hover:underline"
          >
            {texts.version(version)}
          </Link>
          {version === current.version && <Badge>{texts.current}</Badge>}
        </span>
      ),
    },
    { header: texts.written, cell: ({ createdAt }) => createdAt && <RelativeTime time={createdAt} /> },
    { header: texts.author, cell: ({ author }) => author },
  ];
  const shipped = { version: 0, createdAt: null, author: texts.shipped };
  return (
    <SettingsSection title={texts.versions} description={null}>
      <Loaded query={query}>
        {(versions) => (
          <Table
            label={texts.versions}
            columns={columns}
            rows={[
              ...versions.map(({ version, createdAt, actor, keyId }) => ({
                version,
                createdAt,
                author: actor ?? keyId ?? '',
              })),
              ...(current.source === 'shipped' || current.replacesShipped ? [shipped] : []),
            ]}
            rowKey={({ version }) => String(version)}
          />
        )}
      </Loaded>
    </SettingsSection>
  );
}

const shownMax = 50;

/** The detections that have a skill. */
function SkillUsers({ ids }: { ids: readonly string[] }) {
  const shown = ids.slice(0, shownMax);
  const detections = useQueries({ queries: shown.map((id) => detectionQuery(id)) });
  return (
    <SettingsSection
      title={texts.usedByTitle}
      description={ids.length === 0 ? texts.notUsed : texts.usedBy(ids.length)}
    >
      {ids.length > 0 && (
        <ul className="flex flex-col gap-1">
          {shown.map((id, index) => (
            <li key={id}>
              <Link to="/detections/$id" params={{ id }} className="text-accent underline underline-offset-2">
                {detections[index]?.data?.name ?? id}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </SettingsSection>
  );
}
