import { useQuery } from '@tanstack/react-query';
import { detectionPackQuery, type DetectionPack } from '../../../api/detection-parts.ts';
import { fieldToWords } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/detection.ts';
import { ExactTime } from '../../../ui/time.tsx';

const texts = all.pack;

/** The pack that a detection comes from, and what the organization changed in it. Nothing for a detection of its own. */
export function PackOrigin({ id }: { id: string }) {
  const { data } = useQuery(detectionPackQuery(id));
  if (!data?.pack) return null;
  const { name, version, file, appliedAt, changes } = data.pack;
  return (
    <div className="flex max-w-[72ch] flex-col gap-2">
      <p className="break-words text-muted">
        {texts.from} <span className="font-strong text-ink">{name}</span> {version},{' '}
        <span className="font-mono">{file}</span>, {texts.applied} <ExactTime time={appliedAt} />.{' '}
        {changes.length === 0 ? texts.unchanged : texts.changed}
      </p>
      {changes.length > 0 && <Changes changes={changes} />}
    </div>
  );
}

function Changes({ changes }: Pick<DetectionPack, 'changes'>) {
  return (
    <table className="text-12">
      <thead>
        <tr className="border-b text-left text-faint [&>th]:h-8 [&>th]:pr-6 [&>th]:font-normal">
          <th scope="col">{texts.field}</th>
          <th scope="col">{texts.inPack}</th>
          <th scope="col">{texts.here}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field} className="border-b align-top last:border-b-0 [&>*]:py-1.5 [&>*]:pr-6">
            <th scope="row" className="text-left font-normal whitespace-nowrap">
              {fieldToWords(field)}
            </th>
            <td className="max-w-80 truncate font-mono text-muted">{toText(before)}</td>
            <td className="max-w-80 truncate font-mono">{toText(after)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A field that is left out has its default. */
const toText = (value: unknown): string =>
  value === undefined ? texts.default : typeof value === 'string' ? value : JSON.stringify(value);
