import { useId, useState } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import type { NewSource, Source } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';

type Kind = Source['kind'];
type Props = { isPending: boolean; error: Error | null; onCreate: (source: NewSource) => void };

const field = 'h-7 w-full rounded-control border bg-surface px-2 placeholder:text-faint';

/** The fields of one's own source. What the API refuses is shown below the fields. */
export function SourceForm({ isPending, error, onCreate }: Props) {
  const id = useId();
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [kind, setKind] = useState<Kind>('rss');
  const problems =
    error instanceof ApiProblem && error.errors.length > 0 ? error.errors.map(({ detail }) => detail) : [];
  return (
    <form
      className="grid grid-cols-[5rem_1fr] items-center gap-x-3 gap-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        onCreate({ name: name.trim(), url: url.trim(), kind, visibility: 'private' });
      }}
    >
      <label htmlFor={`${id}-kind`} className="text-muted">
        {texts.kind}
      </label>
      <select
        id={`${id}-kind`}
        value={kind}
        onChange={(event) => setKind(event.target.value as Kind)}
        className={field}
      >
        {(Object.keys(texts.kinds) as Kind[]).map((value) => (
          <option key={value} value={value}>
            {texts.kinds[value]}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-name`} className="text-muted">
        {texts.name}
      </label>
      <input
        id={`${id}-name`}
        required
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
        className={field}
      />
      <label htmlFor={`${id}-url`} className="text-muted">
        {texts.address}
      </label>
      <input
        id={`${id}-url`}
        required
        type="url"
        maxLength={2000}
        placeholder="https://"
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        className={`${field} font-mono text-12`}
      />
      <div className="col-start-2 flex flex-col items-start gap-2">
        {error && (
          <p role="alert" className="text-12 text-bad">
            {problems.length > 0 ? problems.join(' ') : error.message}
          </p>
        )}
        <Button kind="primary" type="submit" disabled={isPending}>
          {texts.create}
        </Button>
      </div>
    </form>
  );
}
