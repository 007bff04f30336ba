import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  entityProfileQuery,
  joinAlias,
  separateAlias,
  type Alias,
  type EntityPath,
  type EntityProfile,
} from '../../api/hits.ts';
import { formatNumber } from '../../lib/text.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as all } from '../../texts/hits.ts';
import { texts as incidents } from '../../texts/incidents.ts';
import { Sparkline } from '../../ui/charts/sparkline.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/forms/field.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Section } from '../../ui/section.tsx';
import { DetailSkeleton, ErrorState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { EntityHits, SharedItems } from './context.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';
import { Value } from '../../ui/value.tsx';

const texts = all.profile;
const route = getRouteApi('/shell/hits/entity');
const typeOptions = Object.entries(texts.types).map(([value, label]) => ({ value, label }));

/** An entity under all its names: why each is one, its hits, notes on it and feed items, and how to join and separate names. */
export function EntityPage() {
  const path = route.useSearch();
  const { data, error, refetch } = useQuery(entityProfileQuery(path));
  return (
    <>
      <PageHeader
        title={data?.name ?? path.name}
        parent={
          <Link to="/hits" search={{ by: 'entity' }} className="text-muted hover:text-ink">
            {all.title}
          </Link>
        }
        actions={
          <Link to="/incidents" search={{ entity: data?.name ?? path.name }} className={buttonClass('secondary')}>
            {incidents.title}
          </Link>
        }
      />
      <div className="grow overflow-y-auto" key={`${path.type} ${path.name}`}>
        <div className="max-w-5xl">
          {data ? (
            <Profile profile={data} path={path} />
          ) : error ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : (
            <DetailSkeleton />
          )}
        </div>
      </div>
    </>
  );
}

function Profile({ profile, path }: { profile: EntityProfile; path: EntityPath }) {
  const { type, name, isShared, hitsTotal, lastSeenAt, risk, hits, notes, feedItems } = profile;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <Value value={name} type={type} at={lastSeenAt}>
          <h2 className="inline text-15 font-strong wrap-anywhere">{name}</h2>
        </Value>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <span>{texts.types[type]}</span>
          <span>{texts.hits(formatNumber(hitsTotal), hitsTotal === 1)}</span>
          <span>
            {texts.risk} {formatNumber(risk.score)}
          </span>
          {lastSeenAt && (
            <span>
              {texts.seen} <RelativeTime time={lastSeenAt} />
            </span>
          )}
        </p>
        {isShared && <p className="text-12 text-muted">{texts.shared}</p>}
      </header>
      <Aliases profile={profile} path={path} />
      {notes.length > 0 && (
        <Section title={texts.notes} count={notes.length}>
          <ul className="flex flex-col gap-2">
            {notes.map(({ entity, note }) => (
              <li key={`${entity} ${note}`} className="max-w-[72ch] break-words whitespace-pre-wrap">
                {note} <span className="text-12 wrap-anywhere text-muted">{entity}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {hits.length === 0 ? (
        <p className="text-muted">{texts.none}</p>
      ) : (
        <div className="flex flex-col gap-2">
          <EntityHits title={texts.latest} entityHits={hits} />
          <Link to="/hits" search={{ entity: name }} className="text-12 text-accent hover:underline">
            {texts.all}
          </Link>
        </div>
      )}
      {risk.history.some(({ score }) => score > 0) && <Risk risk={risk} />}
      <SharedItems feedItems={feedItems} />
    </article>
  );
}

/** The risk of the entity over time, and the hits that cause it. */
function Risk({ risk: { score, threshold, history, causes } }: Pick<EntityProfile, 'risk'>) {
  return (
    <Section title={texts.risk} count={score}>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-muted">
        <Sparkline values={history.map((day) => day.score)} label={texts.riskDays(history.length)} />
        <span>{texts.riskNow(formatNumber(score), formatNumber(threshold))}</span>
        <span>{texts.riskNote}</span>
      </p>
      <ul className="-mx-2 flex flex-col">
        {causes.map(({ id, headline, points }) => (
          <li key={id}>
            <Link
              to="/hits/$id"
              params={{ id }}
              className="flex items-center gap-3 rounded-control px-2 py-1.5 hover:bg-hover"
            >
              <span className="min-w-0 grow truncate">{headline}</span>
              <span className="tabular shrink-0 text-12 text-muted">{texts.points(formatNumber(points))}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The names of the entity. Separating can be undone, which joins the name again. */
function Aliases({ profile, path }: { profile: EntityProfile; path: EntityPath }) {
  const { type, name } = profile;
  const client = useQueryClient();
  const refresh = [['hits']];
  const entity = { type, name };
  const undo = (alias: Alias) =>
    joinAlias(entity, { ...alias, reason: '' }).then(() => client.invalidateQueries({ queryKey: ['hits'] }));
  const { mutate, isPending } = useChange({
    change: (alias: Alias) => separateAlias(entity, alias),
    refresh,
    done: (_, alias) => ({
      title: texts.separated(alias.alias),
      action: { label: texts.undo, run: () => void undo(alias) },
    }),
    failed: texts.failed,
  });
  return (
    <Section title={texts.aliases} count={profile.aliases.length}>
      <ul aria-label={texts.aliases} className="flex flex-col divide-y">
        {profile.aliases.map((alias) => (
          <li key={`${alias.type} ${alias.name}`} className="flex items-center gap-3 py-1.5">
            <span className="min-w-0 grow">
              <span className="block font-mono text-13 wrap-anywhere">
                <Value value={alias.name} type={alias.type} at={alias.lastSeenAt} />
              </span>
              <span className="block text-12 wrap-anywhere text-muted">
                {alias.type !== type && `${texts.types[alias.type]} · `}
                {alias.hits > 0 && `${texts.hits(formatNumber(alias.hits), alias.hits === 1)} · `}
                {alias.why}
              </span>
            </span>
            {alias.canSeparate && (
              <Button
                aria-label={texts.separateName(alias.name)}
                disabled={isPending}
                onClick={() => mutate({ alias: alias.name, aliasType: alias.type })}
              >
                {texts.separate}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <JoinForm key={`${path.type} ${path.name}`} entity={entity} />
    </Section>
  );
}

function JoinForm({ entity }: { entity: EntityPath }) {
  const [{ alias, aliasType, reason }, setValues, draft] = useDraft(`alias ${entity.type} ${entity.name}`, {
    alias: '',
    aliasType: entity.type,
    reason: '',
  });
  const { mutate, isPending } = useChange({
    change: () => joinAlias(entity, { alias: alias.trim(), aliasType, reason: reason.trim() }),
    refresh: [['hits']],
    done: () => texts.joined(alias.trim()),
    draft,
    failed: texts.failed,
  });
  return (
    <form
      aria-label={texts.joinTitle}
      className="flex flex-wrap items-end gap-2 pt-2"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(undefined);
      }}
    >
      <div className="min-w-44 grow">
        <TextField label={texts.alias} value={alias} onChange={({ target }) => setValues({ alias: target.value })} />
      </div>
      <div className="w-32">
        <SelectField
          label={texts.aliasType}
          options={typeOptions}
          value={aliasType}
          onChange={({ target }) => setValues({ aliasType: target.value as EntityPath['type'] })}
        />
      </div>
      <div className="min-w-44 grow">
        <TextField label={texts.reason} value={reason} onChange={({ target }) => setValues({ reason: target.value })} />
      </div>
      <Button type="submit" className="h-8" disabled={isPending || alias.trim() === ''}>
        {texts.join}
      </Button>
      <RestoredDraft draft={draft} />
    </form>
  );
}
