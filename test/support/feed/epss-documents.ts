/** Returns EPSS scores of a day: `[cve, probability, percentile]`. */
export const epssScores = (day: string, ...rows: [string, number, number][]): string =>
  [`#model_version:v2025.03.14,score_date:${day}T12:55:00Z`, 'cve,epss,percentile', ...rows, ''].join('\n');
